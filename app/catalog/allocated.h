#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "catalog/host_scope.h"

namespace attnscope::catalog {

// How many elements of `each` bytes the host code allocates for the pointer that it calls `pointer.text` at
// `pointer.at`, as a manifest's expression; empty if it does not say, or only a guess could.
std::string allocated_elements(const HostSource& host, const HostScope& scope, const HostText& pointer, int64_t each);

// "rows * columns" as rows and columns; anything else than a short product as it is.
std::vector<std::string> factors_of(const std::string& formula);

}  // namespace attnscope::catalog
