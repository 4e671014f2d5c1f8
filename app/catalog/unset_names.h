#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace attnscope::catalog {

// A number for a name that the source uses as an array's length (`float a[N]`) or in `#pragma unroll N`, and that
// nothing in it defines for device code: what the host code gives a name like it, or else a usual one. Empty for any
// other name, and for a gap that an exercise leaves to its reader (FIXME).
std::optional<std::string> number_of_unset(std::string_view source, const std::string& name);

}  // namespace attnscope::catalog
