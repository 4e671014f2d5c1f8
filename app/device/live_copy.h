#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace attnscope::device {

// A copy of memory that other threads are storing to, for pictures of a running kernel, where a value a moment old or
// half of a row is fine. Each byte is a value that it held at some time; two bytes may be from different moments.
std::vector<std::byte> live_copy(std::span<const std::byte> from);

}  // namespace attnscope::device
