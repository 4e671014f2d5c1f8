#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/words.h"

namespace attnscope {

// matrices: LDSM, where lane 8k + r gives the address of row r of matrix k. copy: the shared side of an LDGSTS. atomic:
// lanes with the same word are served one after the other.
enum class SharedUse { load, store, matrices, copy, atomic };
template <>
struct Words<SharedUse> : NamesAsWords<SharedUse> {};

// One access of a warp to shared memory.
struct SharedAccess {
  std::array<int64_t, 32> at{};  // address of each lane, in bytes from a row of banks; 0 for inactive lanes
  int64_t mask = 0;              // bit n: lane n is active
  int64_t bytes = 4;             // per lane: 1, 2, 4, 8 or 16
  SharedUse use = SharedUse::load;
  bool active(int lane) const { return (mask >> lane & 1) != 0; }
  bool operator==(const SharedAccess&) const = default;
};

// One execution of an instruction that accesses shared memory.
struct SharedStep {
  int64_t warp = 0;   // index in the CTA
  int64_t turn = 0;   // how often the warp had executed the instruction before
  int64_t shape = 0;  // index into SharedSteps::shapes
  int64_t base = 0;   // byte of the CTA's shared memory that the shape's addresses are relative to: a multiple of 128
  bool operator==(const SharedStep&) const = default;
};

// Successive executions of one instruction in one CTA: the first few of each warp.
struct SharedSteps {
  static constexpr size_t kMost = 256;
  std::vector<SharedAccess> shapes;  // all different
  std::vector<SharedStep> steps;     // ordered by warp, then by turn
  // The access of that step, in bytes from the start of the CTA's shared memory.
  SharedAccess access(size_t step) const;
  bool operator==(const SharedSteps&) const = default;
};

// A named part of a CTA's shared memory.
struct SharedPlace {
  std::string name;
  int64_t begin = 0, bytes = 0;  // bytes; `begin` is relative to the start of the CTA's shared memory
  bool operator==(const SharedPlace&) const = default;
};
// The first place that contains that byte; null if none does.
const SharedPlace* place_of(const std::vector<SharedPlace>& places, int64_t byte);

struct Wavefronts {
  int taken = 0;
  int needed = 0;  // the wavefronts without bank conflicts
  bool operator==(const Wavefronts&) const = default;
};

// The rule was established on an H200, one kernel per access type, 168 patterns (docs/emulator.md). Accesses of 2 and 4
// bytes form one group of lanes, 8-byte accesses half-warps and 16-byte ones quarter-warps. A load's groups are merged
// in pairs if the lanes agree in pairs. A group takes as many wavefronts as the largest number of distinct 4-byte words
// that one of the 32 banks must serve; of an atomic, as the largest number of words, the same word once for each lane.
// Each matrix of an LDSM is a group, as is each quarter of a 16-byte store. The hardware counts no wavefronts for
// copies; they are grouped like stores.
Wavefronts wavefronts_of(const SharedAccess& access);

// Lanes that are served together.
struct SharedPhase {
  uint32_t lanes = 0;  // bit n: lane n is in the group and active
  int wavefronts = 0;
};
// The groups of that rule that have an active lane, in order. Their wavefronts add up to wavefronts_of().taken.
struct SharedPhases {
  std::array<SharedPhase, 4> all{};
  int count = 0;
  const SharedPhase* begin() const { return all.data(); }
  const SharedPhase* end() const { return all.data() + count; }
};
SharedPhases phases_of(const SharedAccess& access);

}  // namespace attnscope
