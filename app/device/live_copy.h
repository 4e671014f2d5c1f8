#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace attnscope::device {

// A copy of memory that other threads are storing to: for pictures of a run that goes on, where a value a moment old or
// half of a row is fine. Each byte is some value that it held; nothing may be concluded across bytes.
std::vector<std::byte> live_copy(std::span<const std::byte> from);

}  // namespace attnscope::device
