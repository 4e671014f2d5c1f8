#include <algorithm>
#include <cstring>

#include "core/shared_access.h"
#include "emulator/exec/lines.h"
#include "emulator/exec/warp.h"

namespace attnscope::emulator {

namespace {

constexpr int bytes_of_access(Access access) {
  constexpr int widths[] = {2, 4, 8, 16};
  return widths[static_cast<int>(access) % 4];
}
constexpr bool is_shared(Access access) { return access < Access::global_2; }
constexpr SharedUse use_of(Access access) {
  return access < Access::shared_store_2    ? SharedUse::load
         : access < Access::shared_atomic_2 ? SharedUse::store
                                            : SharedUse::atomic;
}

SharedAccess access_of(const Pattern& pattern) {
  const auto access = static_cast<Access>(pattern.access);
  SharedAccess made{{}, pattern.mask, bytes_of_access(access), use_of(access)};
  for (int lane = 0; lane < 32; ++lane)
    if (made.active(lane)) made.at[lane] = pattern.delta[lane] + static_cast<int32_t>(pattern.phase);
  return made;
}

void find_sectors(Pattern& pattern) {
  int32_t sectors[32], at[32];
  int count = 0;
  for (uint32_t rest = pattern.mask; rest != 0; rest &= rest - 1) {
    at[count] = pattern.delta[__builtin_ctz(rest)] + static_cast<int32_t>(pattern.phase);
    sectors[count] = at[count] >> 5;
    ++count;
  }
  pattern.sectors = static_cast<uint16_t>(distinct(sectors, count));
  // The base's place in its line turns the banks round, which leaves the busiest one's words.
  const uint64_t busiest = busiest_bank(at, count, static_cast<uint32_t>(bytes_of_access(Access(pattern.access))));
  for (int32_t quarter = 0; quarter < 4; ++quarter) {
    const uint64_t lines = lines_of(sectors, pattern.sectors, quarter);
    pattern.lines[quarter] = static_cast<uint8_t>(lines);
    pattern.passes[quarter] = static_cast<uint8_t>(passes_of(busiest, lines));
  }
}

}  // namespace

void make_pattern(Pattern& pattern, Access access, const int32_t (&delta)[32], uint32_t mask, uint32_t phase) {
  const int bytes = bytes_of_access(access);
  std::memcpy(pattern.delta, delta, sizeof pattern.delta);
  pattern.mask = mask;
  pattern.phase = phase;
  pattern.access = static_cast<uint8_t>(access);
  pattern.low = pattern.high = 0;
  pattern.aligned = true;
  bool broadcast = true, contiguous = mask == kFull;
  for (int lane = 0; lane < 32; ++lane) {
    if (!(mask >> lane & 1)) continue;
    pattern.low = std::min(pattern.low, delta[lane]);
    pattern.high = std::max(pattern.high, delta[lane]);
    pattern.aligned &= ((delta[lane] + static_cast<int32_t>(phase)) & (bytes - 1)) == 0;
    broadcast &= delta[lane] == 0;
    contiguous &= delta[lane] == lane * bytes;
  }
  pattern.kind = broadcast ? Kind::broadcast : contiguous ? Kind::contiguous : Kind::generic;
  pattern.wavefronts = pattern.ideal = pattern.sectors = 0;
  std::memset(pattern.lines, 0, sizeof pattern.lines);
  std::memset(pattern.passes, 0, sizeof pattern.passes);
  if (is_shared(access)) {
    const Wavefronts wavefronts = wavefronts_of(access_of(pattern));
    pattern.wavefronts = static_cast<uint16_t>(wavefronts.taken);
    pattern.ideal = static_cast<uint16_t>(wavefronts.needed);
  } else {
    find_sectors(pattern);
  }
}

const Pattern& find_pattern(Machine& machine, uint32_t op, Access access, const int32_t (&delta)[32], uint32_t mask,
                            uint32_t phase) {
  uint32_t key = mask * 0x9e3779b9u + phase * 0x85ebca6bu + static_cast<uint32_t>(access);
  for (int32_t d : delta) key = (key ^ static_cast<uint32_t>(d)) * 0x01000193u + (key >> 15);
  key |= 1;  // 0 marks an empty slot
  for (uint32_t slot = key % kPatterns;; slot = (slot + 1) % kPatterns) {
    Pattern& pattern = machine.patterns[slot];
    if (machine.pattern_keys[slot] == 0) {
      if (machine.pattern_count >= kPatterns / 2) {  // irregular addresses: starts over rather than growing
        std::memset(machine.pattern_keys, 0, kPatterns * sizeof(uint32_t));
        for (uint32_t i = 0; i < machine.op_count; ++i) machine.last[i] = machine.none;
        machine.pattern_count = 0;
        ++machine.pattern_restarts;
        slot = key % kPatterns;
      }
      ++machine.pattern_count;
      machine.pattern_keys[slot] = key;
      make_pattern(machine.patterns[slot], access, delta, mask, phase);
      machine.last[op] = &machine.patterns[slot];
      return machine.patterns[slot];
    }
    if (machine.pattern_keys[slot] == key && pattern.mask == mask && pattern.phase == phase &&
        pattern.access == static_cast<uint8_t>(access) && std::memcmp(pattern.delta, delta, sizeof delta) == 0) {
      machine.last[op] = &pattern;
      return pattern;
    }
  }
}

const MemoryRange* find_range(Machine& machine, uint64_t address) {
  if (machine.range_count == 0) return nullptr;
  const MemoryRange& last = machine.ranges[machine.last_range];
  if (address - last.address < last.bytes) return &last;
  for (uint32_t i = 0; i < machine.range_count; ++i) {
    if (address - machine.ranges[i].address < machine.ranges[i].bytes) {
      machine.last_range = i;
      return &machine.ranges[i];
    }
  }
  return nullptr;
}

void global_one_by_one(Warp& warp, const Op& op, uint32_t mask, int64_t offset, uint32_t bytes, bool store) {
  Machine& machine = *warp.machine;
  uint8_t* const file = bytes_of(warp);
  const auto* low = reinterpret_cast<const uint32_t*>(file + op.a);
  const auto* high = reinterpret_cast<const uint32_t*>(file + op.a + 128);
  uint64_t address[32], sectors[32], begins[32];
  uint8_t* host[32];
  int count = 0;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    address[lane] = (low[lane] | static_cast<uint64_t>(high[lane]) << 32) + static_cast<uint64_t>(offset);
    const MemoryRange* range = find_range(machine, address[lane]);
    FaultKind kind = FaultKind::none;
    if (range == nullptr || address[lane] + bytes > range->address + range->bytes) {
      kind = FaultKind::global_outside;
    } else if (address[lane] % bytes != 0) {
      kind = FaultKind::global_misaligned;
    } else if (store && !range->writable) {
      kind = FaultKind::global_read_only;
    }
    if (kind != FaultKind::none) {
      if (machine.fault.kind == FaultKind::none) machine.fault = {kind, op.index, lane, address[lane], bytes};
      return;
    }
    host[lane] = range->host + (address[lane] - range->address);
    begins[count] = address[lane];
    sectors[count++] = address[lane] / 32;
  }
  OpCounts& counts = machine.ops[op.index];
  ++counts.requests;
  count_sectors(counts, sectors, count, busiest_bank(begins, count, bytes));
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    for (uint32_t word = 0; word < (bytes + 3) / 4; ++word) {
      const uint32_t size = std::min(bytes, 4u);
      uint8_t* const at = host[lane] + 4 * word;
      if (store) {
        std::memcpy(at, file + op.c + 128 * word + 4 * lane, size);
      } else {
        uint32_t value = 0;
        std::memcpy(&value, at, size);
        std::memcpy(file + op.dst + 128 * word + 4 * lane, &value, 4);
      }
    }
  }
}

}  // namespace attnscope::emulator
