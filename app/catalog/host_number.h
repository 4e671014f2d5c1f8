#pragma once
#include <optional>

#include "catalog/host_scope.h"

namespace attnscope::catalog {

// The value of a host expression of floating or whole numbers, such as `1.0f / sqrtf(d)`: literals, names with a value,
// + - * /, casts, and a few functions of <cmath>. Whole numbers divide as in C++. Empty if it has anything else,
// or a division with a rest of names whose type is not read.
// `scope`'s take_guessed() says whether it relied on a guess.
std::optional<double> host_number(const HostText& expression, const HostScope& scope);

}  // namespace attnscope::catalog
