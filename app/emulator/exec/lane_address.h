#pragma once
#include <algorithm>
#include <cstring>

#include "emulator/exec/general.h"

namespace attnscope::emulator {

// Where one lane of a memory instruction reads or writes, in the space of Op::space. For a generic address the window
// that contains it determines the space.
struct LaneAddress {
  uint64_t address = 0;  // shared: in its window; local: from the thread's start
  Space space = Space::global;
};
LaneAddress lane_address(Warp& warp, const Op& op, uint32_t lane);
// LDSM: lane 8k + r gives the address of row r of matrix k, active or not.
inline bool is_matrix_load(const Op& op) { return op.family == Family::ldsm || op.family == Family::ldsm_transposed; }
// The global side of an LDGSTS.
uint64_t source_address(Warp& warp, const Op& op, uint32_t lane);

// True if one lane of a store writes the value that is already at `at`.
inline bool stores_the_same(Warp& warp, const Op& op, uint32_t lane, const uint8_t* at) {
  for (uint32_t word = 0; word < std::max(1u, op.bytes / 4u); ++word) {
    const uint8_t* const value = bytes_of(warp) + op.c + 128 * word + 4 * lane;
    if (std::memcmp(at + 4 * word, value, std::min<uint32_t>(4, op.bytes)) != 0) return false;
  }
  return true;
}

}  // namespace attnscope::emulator
