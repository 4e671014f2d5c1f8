#pragma once
#include <algorithm>
#include <cstdint>

#include "emulator/exec/warp.h"

namespace attnscope::emulator {

// The different lines, of 128 bytes, among `count` different sectors of 32 bytes, ascending; sector 0 is the
// `first`-th of its line.
template <class Sector>
uint64_t lines_of(const Sector* sectors, uint64_t count, Sector first = 0) {
  uint64_t lines = 0;
  for (uint64_t i = 0; i < count; ++i) lines += i == 0 || (sectors[i] + first) >> 2 != (sectors[i - 1] + first) >> 2;
  return lines;
}

// The number of different values among the first `count`, which it sorts.
template <class T>
uint64_t distinct(T* values, int count) {
  std::sort(values, values + count);
  return static_cast<uint64_t>(std::unique(values, values + count) - values);
}

// Counts the different ones of a request's sectors, and their lines. Returns how many there are; they are the first.
template <class Sector>
uint64_t count_sectors(OpCounts& counts, Sector* sectors, int count) {
  const uint64_t different = distinct(sectors, count);
  counts.sectors += different;
  counts.lines += lines_of(sectors, different);
  return different;
}

}  // namespace attnscope::emulator
