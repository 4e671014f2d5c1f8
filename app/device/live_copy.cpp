#include "device/live_copy.h"

#include <cstdint>
#include <cstring>

namespace attnscope::device {

// The emulator stores without atomics, because atomic stores would slow every run for the sake of a picture. Relaxed
// atomic reads keep the compiler from reading twice or assuming what it read. The race is intended, so the thread
// sanitizer ignores this one function.
__attribute__((no_sanitize("thread"), noinline)) std::vector<std::byte> live_copy(std::span<const std::byte> from) {
  std::vector<std::byte> to(from.size());
  size_t at = 0;
  if (reinterpret_cast<uintptr_t>(from.data()) % sizeof(uint64_t) == 0) {
    for (; at + sizeof(uint64_t) <= from.size(); at += sizeof(uint64_t)) {
      const uint64_t word = __atomic_load_n(reinterpret_cast<const uint64_t*>(from.data() + at), __ATOMIC_RELAXED);
      std::memcpy(to.data() + at, &word, sizeof word);
    }
  }
  for (; at < from.size(); ++at)
    to[at] = std::byte{__atomic_load_n(reinterpret_cast<const uint8_t*>(from.data() + at), __ATOMIC_RELAXED)};
  return to;
}

}  // namespace attnscope::device
