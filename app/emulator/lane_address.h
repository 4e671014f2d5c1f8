#pragma once
#include "emulator/general.h"

namespace attnscope::emulator {

// Where one lane of a memory instruction reads or writes, by Op::space; generic addresses are told apart by their
// windows.
struct LaneAddress {
  uint64_t address = 0;  // shared: in its window; local: from the thread's own start
  Space space = Space::global;
};
LaneAddress lane_address(Warp& warp, const Op& op, uint32_t lane);
// LDGSTS: the global side.
uint64_t source_address(Warp& warp, const Op& op, uint32_t lane);

}  // namespace attnscope::emulator
