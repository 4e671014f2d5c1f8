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

// The most of a request's words that one of the L1 data cache's 32 banks, of four bytes, has to serve. `at` are the
// lanes' addresses, aligned to their width of `bytes`; they are sorted and changed.
template <class Address>
uint64_t busiest_bank(Address* at, int count, uint32_t bytes) {
  const Address unit = static_cast<Address>(std::max(bytes, 4u)), units_of_a_line = 128 / unit;
  for (int i = 0; i < count; ++i) at[i] = (at[i] - (at[i] & (unit - 1))) / unit;
  const uint64_t different = distinct(at, count);
  uint8_t of_bank[32] = {};
  for (uint64_t i = 0; i < different; ++i) ++of_bank[at[i] & (units_of_a_line - 1)];
  return *std::max_element(of_bank, of_bank + 32);
}

// Clocks of the L1 data cache that a request takes: a bank serves one word at a time, and four lines are looked up at a
// time. Measured on an H200 (docs/model.md), where look-ups take longer if their lines fall together.
inline uint64_t passes_of(uint64_t busiest, uint64_t lines) { return std::max(busiest, (lines + 3) / 4); }

// Counts the different ones of a request's sectors, their lines and passes. Returns how many there are; they are the
// first. `busiest`: see busiest_bank().
template <class Sector>
uint64_t count_sectors(OpCounts& counts, Sector* sectors, int count, uint64_t busiest) {
  const uint64_t different = distinct(sectors, count), lines = lines_of(sectors, different);
  counts.sectors += different;
  counts.lines += lines;
  counts.passes += passes_of(busiest, lines);
  return different;
}

}  // namespace attnscope::emulator
