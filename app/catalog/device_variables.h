#pragma once
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::catalog {

// The names of a source's `__device__` variables that code can write: `__device__ float sums[64];`. Constants,
// functions and a function's own declarations are left out.
std::set<std::string, std::less<>> device_variables(std::string_view source);

// A variable that two kernels name. Each launch is loaded by itself with its own variables, so what one launch stores
// there the other does not read.
struct SharedVariable {
  std::string name;
  size_t first, second;  // indices into `bodies`
};
// `bodies`: those of the launched kernels, in order. A kernel that is launched twice shares its variables with itself.
std::optional<SharedVariable> shared_variable(std::string_view source, const std::vector<std::string_view>& bodies);

}  // namespace attnscope::catalog
