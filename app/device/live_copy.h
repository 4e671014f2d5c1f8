#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace attnscope::device {

// Copies memory that other threads are writing, for pictures of a running kernel, where a slightly old value or half of
// a row is fine. Each byte is a value that it held at some time; two bytes may be from different moments.
std::vector<std::byte> live_copy(std::span<const std::byte> from);

}  // namespace attnscope::device
