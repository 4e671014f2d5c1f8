#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::platform {

// Those of `names` that a process of this machine has, as far as this one can see, each once and in their order. The
// system keeps 15 characters of a process's name.
std::vector<std::string> running(std::span<const std::string_view> names);

}  // namespace attnscope::platform
