#pragma once
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::catalog {

// The names of a source's `__device__` variables that code can write: `__device__ float sums[64];`, and neither
// constants nor functions nor what a function declares.
std::set<std::string, std::less<>> device_variables(std::string_view source);

// One of them that two kernels name: each launch is loaded by itself, with variables of its own, so that what one
// stores there no other one reads.
struct SharedVariable {
  std::string name;
  size_t first, second;  // of `bodies`
};
// `bodies`: those of the launched kernels in order; a kernel that is launched twice shares its variables with itself.
std::optional<SharedVariable> shared_variable(std::string_view source, const std::vector<std::string_view>& bodies);

}  // namespace attnscope::catalog
