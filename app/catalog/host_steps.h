#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/host_source.h"

namespace attnscope::catalog {

// A call or a launch in a host function, and what decides whether and how often it runs.
struct HostStep {
  std::string name;                    // of the called function, or "return"; empty for a launch
  std::vector<std::string> arguments;  // of a call, as written; for x.fill_(0) also x
  size_t at = 0;                       // byte offset in the source; for a launch SourceLaunch::at
  std::vector<SourceBranch> branches;  // the ifs around it within the function
  std::string unclear;                 // other code around it, such as "a loop" or "#ifdef DEBUG"; empty: it runs once

  bool is_launch() const { return name.empty(); }
  bool is_return() const { return name == "return"; }
};

// The calls, launches and returns of a function in the order of the text, up to a `return` that always runs. `for`,
// `while`, `do`, `switch`, lambdas, `#if` and code that is nested too deeply make the steps in them unclear. Casts,
// keywords and constructors that look like calls are among the steps; at most kMostHostSteps are read.
inline constexpr size_t kMostHostSteps = 5000;
std::vector<HostStep> host_steps(std::string_view source, const HostFunction& function);

}  // namespace attnscope::catalog
