#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/words.h"

namespace attnscope {

// matrices: LDSM, where lane 8k + r gives the address of row r of matrix k. copy: the shared side of an LDGSTS.
enum class SharedUse { load, store, matrices, copy };
template <>
struct Words<SharedUse> : NamesAsWords<SharedUse> {};

// What the lanes of a warp access in shared memory, all at once.
struct SharedAccess {
  std::array<int64_t, 32> at{};  // byte of each lane, from a whole row of banks on; 0 in inactive lanes
  int64_t mask = 0;              // bit n: lane n is active
  int64_t bytes = 4;             // of a lane: 1, 2, 4, 8 or 16
  SharedUse use = SharedUse::load;
  bool active(int lane) const { return (mask >> lane & 1) != 0; }
  bool operator==(const SharedAccess&) const = default;
};

// One execution of an instruction that accesses shared memory.
struct SharedStep {
  int64_t warp = 0;   // of the CTA
  int64_t turn = 0;   // how often the warp executed the instruction before
  int64_t shape = 0;  // index into SharedSteps::shapes
  int64_t base = 0;   // byte of the CTA's shared memory where the shape begins: a multiple of 128
  bool operator==(const SharedStep&) const = default;
};

// Successive executions of one instruction in one CTA: the first few of each warp.
struct SharedSteps {
  static constexpr size_t kMost = 256;
  std::vector<SharedAccess> shapes;  // each is different
  std::vector<SharedStep> steps;     // by warp, then by turn
  // Bytes from the start of the CTA's shared memory.
  SharedAccess access(size_t step) const;
  bool operator==(const SharedSteps&) const = default;
};

// A part of a CTA's shared memory that has a name.
struct SharedPlace {
  std::string name;
  int64_t begin = 0, bytes = 0;  // from the CTA's start
  bool operator==(const SharedPlace&) const = default;
};
// The first that holds that byte; null: none.
const SharedPlace* place_of(const std::vector<SharedPlace>& places, int64_t byte);

struct Wavefronts {
  int taken = 0;
  int needed = 0;  // without bank conflicts
  bool operator==(const Wavefronts&) const = default;
};

// The rule was established on an H200, one kernel per access type, 168 patterns (docs/emulator.md): 2 and 4 bytes are
// one group of lanes; 8-byte accesses are split into half-warps, 16-byte ones into quarters; a load's groups are merged
// in pairs when lanes agree in pairs. A group takes the largest number of distinct 4-byte words that one of the 32
// banks must serve. A matrix of an LDSM is a group, as a quarter of a 16-byte store is. The hardware counts no
// wavefronts for copies; they are grouped as stores.
Wavefronts wavefronts_of(const SharedAccess& access);

// Lanes that are served together.
struct SharedPhase {
  uint32_t lanes = 0;  // bit n: lane n is one of them and active
  int wavefronts = 0;
};
// The groups of that rule that have an active lane, in order; their wavefronts add up to wavefronts_of().taken.
struct SharedPhases {
  std::array<SharedPhase, 4> all{};
  int count = 0;
  const SharedPhase* begin() const { return all.data(); }
  const SharedPhase* end() const { return all.data() + count; }
};
SharedPhases phases_of(const SharedAccess& access);

}  // namespace attnscope
