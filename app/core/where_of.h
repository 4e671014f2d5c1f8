#pragma once
#include <string>

#include "core/observation.h"

namespace attnscope {

// A part of where a finding stands, such as "file" or "launch"; empty if it does not say.
inline std::string where_of(const Finding& finding, const char* key) {
  const auto found = finding.where.find(key);
  return found == finding.where.end() ? std::string() : found->second;
}

}  // namespace attnscope
