#pragma once
#include <cstdint>

namespace attnscope::emulator {

// The different lines, of 128 bytes, among `count` different sectors of 32 bytes, ascending; sector 0 is the
// `first`-th of its line.
template <class Sector>
uint64_t lines_of(const Sector* sectors, uint64_t count, Sector first = 0) {
  uint64_t lines = 0;
  for (uint64_t i = 0; i < count; ++i) lines += i == 0 || (sectors[i] + first) >> 2 != (sectors[i - 1] + first) >> 2;
  return lines;
}

}  // namespace attnscope::emulator
