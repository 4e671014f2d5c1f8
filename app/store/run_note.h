#pragma once
#include <cstddef>
#include <string>

namespace attnscope::store {

// A person's star and note on the runs of an experiment.
struct RunNote {
  static constexpr size_t kMostBytes = 2000;
  bool starred = false;
  std::string text;  // UTF-8, at most kMostBytes
  bool operator==(const RunNote&) const = default;
};

}  // namespace attnscope::store
