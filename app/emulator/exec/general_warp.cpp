// Operations between lanes, and a warp's special registers.
#include "emulator/exec/general.h"

namespace attnscope::emulator {

namespace {
// A vote of the executing lanes; those in `yes` vote yes.
bool carried(const Op& op, uint32_t yes, uint32_t mask) {
  const Vote vote = op.detail.vote;
  return vote == Vote::all ? yes == mask : vote == Vote::any ? yes != 0 : yes == mask || yes == 0;
}
// A clock that only moves forward: the number of instructions this warp has issued.
uint64_t clock_of(const Warp& warp, const Op& op) { return warp.steps + op.index + 1; }
}  // namespace

void g_vote(Warp& warp, const Op& op, uint32_t mask) {
  const uint32_t x = predicate(warp, op.x, op.x_invert) & mask;
  set_predicate(warp, op.p, carried(op, x, mask) ? kFull : 0, mask);
}
void g_ballot(Warp& warp, const Op& op, uint32_t mask) {
  const uint32_t x = predicate(warp, op.x, op.x_invert) & mask;
  each_lane(warp, op, mask, [&](const Lane& l) { l.set(x); });
  set_predicate(warp, op.p, carried(op, x, mask) ? kFull : 0, mask);
}
void g_ballot_uniform(Warp& warp, const Op& op, uint32_t mask) {
  const uint32_t x = predicate(warp, op.x, op.x_invert) & mask;
  word(warp, op.dst) = x;
  warp.pred[op.p] = carried(op, x, mask) ? kFull : 0;
}
void g_match_any(Warp& warp, const Op& op, uint32_t mask) {
  const bool wide = is_wide(op.type);
  uint32_t same[32] = {};
  each_lane(warp, op, mask, [&](const Lane& l) {
    each_lane(warp, op, mask, [&](const Lane& other) {
      if (wide ? l.a64() == other.a64() : l.a() == other.a()) same[l.lane] |= 1u << other.lane;
    });
  });
  each_lane(warp, op, mask, [&](const Lane& l) { l.set(same[l.lane]); });
}
void g_match_all(Warp& warp, const Op& op, uint32_t mask) {
  if (mask == 0) return;
  const bool wide = is_wide(op.type);
  const Lane first{bytes_of(warp), op, first_lane(mask)};
  const uint64_t wanted = wide ? first.a64() : first.a();
  bool all = true;
  each_lane(warp, op, mask, [&](const Lane& l) { all &= (wide ? l.a64() : l.a()) == wanted; });
  each_lane(warp, op, mask, [&](const Lane& l) { l.set(all ? mask : 0); });
  set_predicate(warp, op.p, all ? kFull : 0, mask);
}
void g_trap(Warp& warp, const Op& op, uint32_t mask) {
  if (mask == 0 || warp.machine->fault.kind != FaultKind::none) return;
  warp.machine->fault = {FaultKind::trap, op.index, static_cast<int>(first_lane(mask)), 0, 0};
}
// The result goes into a uniform register.
void g_redux(Warp& warp, const Op& op, uint32_t mask) {
  if (mask == 0) return;
  const bool is_signed = op.type == Number::s32;
  uint32_t r = Lane{bytes_of(warp), op, first_lane(mask)}.a();
  each_lane(warp, op, mask & (mask - 1), [&](const Lane& l) {
    const uint32_t x = l.a();
    const bool less = is_signed ? static_cast<int32_t>(x) < static_cast<int32_t>(r) : x < r;
    switch (op.detail.atomic) {
      case Atomic::add:
        r += x;
        break;
      case Atomic::min:
        r = less ? x : r;
        break;
      case Atomic::max:
        r = less ? r : x;
        break;
      case Atomic::and_:
        r &= x;
        break;
      case Atomic::or_:
        r |= x;
        break;
      default:
        r ^= x;
        break;
    }
  });
  word(warp, op.dst) = r;
}
// Elects the lowest of the executing lanes.
void g_elect(Warp& warp, const Op& op, uint32_t mask) {
  if (mask == 0) return;
  const uint32_t leader = first_lane(mask);
  word(warp, op.dst) = leader;
  set_predicate(warp, op.p, 1u << leader, mask);
}
void g_ubrev(Warp& warp, const Op& op, uint32_t) {
  uint32_t x = word(warp, op.a) ^ op.xor_a, r = 0;
  for (int i = 0; i < 32; ++i, x >>= 1) r = r << 1 | (x & 1);
  word(warp, op.dst) = r;
}
void g_upopc(Warp& warp, const Op& op, uint32_t) {
  word(warp, op.dst) = static_cast<uint32_t>(__builtin_popcount((word(warp, op.a) ^ op.xor_a)));
}

void g_uflo(Warp& warp, const Op& op, uint32_t) {
  const uint32_t x = word(warp, op.a) ^ op.xor_a;
  word(warp, op.dst) = x == 0 ? kFull : 31 - static_cast<uint32_t>(__builtin_clz(x));
}

void g_clock(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [&](const Lane& l) { l.set64(clock_of(warp, op)); });
}
void g_clock_32(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [&](const Lane& l) { l.set(static_cast<uint32_t>(clock_of(warp, op))); });
}
void g_clock_uniform(Warp& warp, const Op& op, uint32_t) {
  word(warp, op.dst) = static_cast<uint32_t>(clock_of(warp, op));
}
void g_lanemask(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [&](const Lane& l) {
    const uint32_t eq = 1u << l.lane, lt = eq - 1;
    const uint32_t masks[] = {eq, lt, lt | eq, ~(lt | eq), ~lt};
    l.set(masks[static_cast<int>(op.detail.lane_mask)]);
  });
}

void g_bmov_out(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [&](const Lane& l) { l.set(warp.barrier[op.barrier][l.lane]); });
  if (op.detail.clears) each_lane(warp, op, mask, [&](const Lane& l) { warp.barrier[op.barrier][l.lane] = 0; });
}
void g_bmov_in(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [&](const Lane& l) { warp.barrier[op.barrier][l.lane] = l.a(); });
}
void g_break(Warp& warp, const Op& op, uint32_t mask) {
  leave_barrier(warp, op.barrier, mask & predicate(warp, op.x, op.x_invert));
}

void g_b2r(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [&](const Lane& l) { l.set(warp.barrier_result); });
}
void g_b2r_predicate(Warp& warp, const Op& op, uint32_t mask) {
  set_predicate(warp, op.p, warp.barrier_result ? kFull : 0, mask);
}

// Copies the first lane's value into a uniform register; p says which lanes have another. Loops over a warp's different
// values take one of them at a time so (cuda::barrier on sm_90).
void g_r2ur_predicate(Warp& warp, const Op& op, uint32_t mask) {
  if (mask == 0) return;
  const uint32_t value = Lane{bytes_of(warp), op, first_lane(mask)}.a();
  set_p(warp, op, mask, [&](const Lane& l) { return l.a() != value; });
  word(warp, op.dst) = value;
}

// A label's byte offset, the return address of a call.
void g_lepc(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [&](const Lane& l) { l.set64(kCodeWindow + uint64_t{op.imm} * 16); });
}

// An 8 × 8 matrix of halves, transposed between the lanes.
void g_movm(Warp& warp, const Op& op, uint32_t mask) {
  uint16_t matrix[8][8];
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t pair = Lane{bytes_of(warp), op, lane}.a();
    matrix[lane / 4][2 * (lane % 4)] = static_cast<uint16_t>(pair);
    matrix[lane / 4][2 * (lane % 4) + 1] = static_cast<uint16_t>(pair >> 16);
  }
  each_lane(warp, op, mask, [&](const Lane& l) {
    const uint32_t row = l.lane / 4, column = 2 * (l.lane % 4);
    l.set(matrix[column][row] | static_cast<uint32_t>(matrix[column + 1][row]) << 16);
  });
}

}  // namespace attnscope::emulator
