#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::platform {

// Those of `names` that belong to a visible process of this machine, in order and without duplicates. The system keeps
// 15 characters of a process's name.
std::vector<std::string> running(std::span<const std::string_view> names);

}  // namespace attnscope::platform
