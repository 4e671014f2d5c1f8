#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catalog/host_scope.h"

namespace attnscope::catalog {

// The number of elements of `each` bytes that the host code allocates for the pointer `pointer.text` at `pointer.at`,
// as a manifest's expression; empty if the code does not say, or only a guess could.
// `its_own`: the pointer's own elements have `each` bytes, so that sizeof(*pointer) says it.
std::string allocated_elements(const HostSource& host, const HostScope& scope, const HostText& pointer, int64_t each,
                               bool its_own = true);

// What the host code fills a buffer with before the launch, as a manifest's `init`: by cudaMemset to 0, torch::zeros,
// torch::ones or torch::full of a number. Null if it does not say.
nlohmann::ordered_json host_contents(const HostSource& host, const HostScope& scope, HostText pointer);

// "rows * columns" gives rows and columns; anything but a short product is returned unchanged.
std::vector<std::string> factors_of(const std::string& formula);

}  // namespace attnscope::catalog
