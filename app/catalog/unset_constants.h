#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::catalog {

// The source's __constant__ variables without an initializer: the host code sets them, and here they hold zeros unless
// a buffer of the manifest is their contents.
std::vector<std::string> unset_constants(std::string_view source);

}  // namespace attnscope::catalog
