// The figures of a finding, by name.
#pragma once
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "core/observation.h"

namespace attnscope::explain {

inline double figure(const std::optional<Finding>& finding, const std::string& name) {
  EXPECT_TRUE(finding) << name;
  if (finding)
    for (const Evidence& one : finding->evidence)
      if (one.name == name) return one.value;
  ADD_FAILURE() << "no " << name;
  return -1;
}

inline double saved(const std::optional<Finding>& finding) {
  EXPECT_TRUE(finding && finding->gain);
  return finding && finding->gain ? *finding->gain->estimated : -1;
}

}  // namespace attnscope::explain
