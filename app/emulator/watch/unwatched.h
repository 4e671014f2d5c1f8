#pragma once
#include "emulator/exec/warp.h"

namespace attnscope::emulator {

// An instruction's handlers when nothing observes it.
struct Unwatched {
  Handler full = nullptr, masked = nullptr;

  void handle(Warp& warp, const Op& op, uint32_t mask) const { (mask == kFull ? full : masked)(warp, op, mask); }
};

// Gives a bound instruction another handler and returns its own. `always`: also if every lane is active.
inline Unwatched observe(Op& op, Handler handler, bool always) {
  const Unwatched own{op.full, op.masked};
  const bool direct = op.entry == op.full;
  op.masked = handler;
  if (always) op.full = handler;
  if (direct) op.entry = op.full;
  return own;
}

}  // namespace attnscope::emulator
