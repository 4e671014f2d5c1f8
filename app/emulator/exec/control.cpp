// Moves a warp's lanes through the program: straight runs, branches, convergence barriers, exits.
#include <immintrin.h>

#include "emulator/exec/cta.h"
#include "emulator/exec/general.h"
#include "emulator/exec/observer.h"

namespace attnscope::emulator {

namespace {

// A full mask is tested first: without the instruction, which not every host has, counting bits is a call.
uint32_t lanes_of(uint32_t mask) { return mask == kFull ? 32 : static_cast<uint32_t>(__builtin_popcount(mask)); }

uint32_t guard_of(const Warp& warp, const Op& op) { return warp.pred[op.pred] ^ (op.pred_invert ? kFull : 0); }

void set_mode(Warp& warp, const Op& op) {
  if (warp.machine->mxcsr == op.mxcsr) return;
  warp.machine->mxcsr = op.mxcsr;
  _mm_setcsr(op.mxcsr);
}

void guarded(Warp& warp, const Op& op, uint32_t active) {
  const uint32_t mask = active & guard_of(warp, op);
  warp.machine->ops[op.index].lanes_on += lanes_of(mask);
  if (mask == kFull) {
    op.full(warp, op, mask);
  } else if (mask != 0 || (op.flags & op_touches_memory) != 0) {
    op.masked(warp, op, mask);
  }
}

void with_mode(Warp& warp, const Op& op, uint32_t active) {
  set_mode(warp, op);
  op.full(warp, op, active);
}
void guarded_with_mode(Warp& warp, const Op& op, uint32_t active) {
  set_mode(warp, op);
  guarded(warp, op, active);
}

bool is_guarded(const Op& op) { return op.pred != kPredicateTrue || op.pred_invert; }

void run_partly(Warp& warp, const Op& op, uint32_t active) {
  if (op.mxcsr != 0) set_mode(warp, op);
  if (is_guarded(op)) {
    guarded(warp, op, active);
  } else {
    op.masked(warp, op, active);
  }
}

Fragment& new_fragment(Warp& warp, uint32_t mask, uint32_t pc) {
  // Fragments hold disjoint lanes, so 32 places are enough.
  uint32_t i = 0;
  while (warp.fragments[i].wait != Wait::free) ++i;
  if (i >= warp.fragment_count) warp.fragment_count = i + 1;
  warp.fragments[i] = {mask, pc, 0, Wait::ready, 0};
  return warp.fragments[i];
}

// Releases fragments whose awaited lanes have all arrived or exited. Fragments at the same instruction are joined.
bool release(Warp& warp) {
  bool any = false;
  for (uint32_t i = 0; i < warp.fragment_count; ++i) {
    Fragment& first = warp.fragments[i];
    if (first.wait != Wait::bsync && first.wait != Wait::warpsync) continue;
    uint32_t come = 0;
    for (uint32_t k = 0; k < warp.fragment_count; ++k) {
      const Fragment& other = warp.fragments[k];
      if (other.wait == first.wait && (first.wait == Wait::warpsync || other.barrier == first.barrier))
        come |= other.mask;
    }
    const uint32_t wanted =
        first.wait == Wait::bsync ? warp.barrier[first.barrier][first_lane(first.mask)] : first.wanted;
    if ((wanted & warp.live & ~come) != 0) continue;
    any = true;
    for (uint32_t k = 0; k < warp.fragment_count; ++k) {
      Fragment& other = warp.fragments[k];
      if (k == i || other.wait != first.wait || other.pc != first.pc || other.barrier != first.barrier ||
          other.wanted != first.wanted || (first.wait == Wait::bsync && (other.mask & ~wanted) != 0)) {
        continue;
      }
      first.mask |= other.mask;
      other = Fragment{};
    }
    // Lanes that a WARPSYNC joined after a wait issue it once more, because Nsight Compute counts it like this on sm_90
    // (tests/data/gpu/h200_rungs.json, the configs with REDUCE_WARP=serial).
    const bool issued_again = first.wait == Wait::warpsync && (wanted & warp.live & ~first.mask) == 0;
    first.wait = Wait::ready;
    if (!issued_again) first.pc += 1;
  }
  while (warp.fragment_count > 0 && warp.fragments[warp.fragment_count - 1].wait == Wait::free) --warp.fragment_count;
  return any;
}

// Lanes that a parking instruction's guard excludes continue as a separate fragment.
void leave_out(Warp& warp, Fragment& fragment, uint32_t mask) {
  const uint32_t others = fragment.mask & ~mask;
  if (others == 0) return;
  fragment.mask = mask;
  new_fragment(warp, others, fragment.pc + 1);
}

enum class Step : uint8_t { go_on, parked, fault };

Step jump(Warp& warp, Fragment& fragment, uint32_t taken, uint32_t target) {
  if (taken == fragment.mask) {
    fragment.pc = target;
  } else if (taken == 0) {
    fragment.pc += 1;
  } else {  // the lanes that fall through run first
    new_fragment(warp, taken, target);
    fragment.mask &= ~taken;
    fragment.pc += 1;
  }
  return Step::go_on;
}

// The lanes of `same` continue at byte `offset` of the code; the rest of `mask` execute this instruction again. If no
// block begins there, that is a fault at `address`.
Step go_to(Warp& warp, Fragment& fragment, const Op& op, const Program& program, uint32_t mask, uint32_t same,
           uint64_t offset, uint64_t address) {
  const uint64_t target = offset / 16;
  if (offset % 16 != 0 || target >= program.ops.size() || program.blocks[program.block_of[target]].first != target) {
    warp.machine->fault = {FaultKind::bad_target, op.index, __builtin_ctz(same), address, 0};
    return Step::fault;
  }
  if (same != mask) {
    new_fragment(warp, mask & ~same, fragment.pc);
    fragment.mask = same;
  }
  fragment.pc = static_cast<uint32_t>(target);
  return Step::go_on;
}

// Returns f(lane) for the first lane of `mask`, and the lanes for which it is equal.
template <class F>
auto of_first_lane(uint32_t mask, F f) {
  struct Found {
    decltype(f(uint32_t{})) value;
    uint32_t lanes = 0;
  };
  Found found{f(first_lane(mask))};
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1)
    if (f(first_lane(rest)) == found.value) found.lanes |= 1u << first_lane(rest);
  return found;
}

Step return_to(Warp& warp, Fragment& fragment, const Op& op, const BoundLaunch& launch, uint32_t mask) {
  leave_out(warp, fragment, mask);
  const auto [low, same] = of_first_lane(mask, [&](uint32_t lane) { return word(warp, op.a + 4 * lane); });
  // RET adds the register to a label; BRX adds register and immediate to the byte after itself.
  const uint32_t base = op.family == Family::brx ? (op.index + 1) * 16 + op.imm : op.imm * 16;
  return go_to(warp, fragment, op, *launch.program, mask, same, base + low, low);
}

// A call by address: of code, or of one of the driver's functions, which returns to R20.
Step call_absolute(Warp& warp, Fragment& fragment, const Op& op, const BoundLaunch& launch, uint32_t mask) {
  leave_out(warp, fragment, mask);
  const auto pair = [&](uint32_t offset, uint32_t lane) {
    return word(warp, offset + 4 * lane) | static_cast<uint64_t>(word(warp, offset + 128 + 4 * lane)) << 32;
  };
  auto [target, same] = of_first_lane(mask, [&](uint32_t lane) { return pair(op.a, lane); });
  if (target >= kExternalWindow && target < kExternalWindow + kExternalFunctions) {
    for (uint32_t rest = same; rest != 0; rest &= rest - 1) {
      warp.machine->external(warp, static_cast<uint32_t>(target - kExternalWindow), first_lane(rest), op);
      if (warp.machine->fault.kind != FaultKind::none) return Step::fault;
    }
    target = pair(kLaneFileOffset + 20 * 128, first_lane(mask));
  }
  // An address below the code becomes an offset beyond it.
  return go_to(warp, fragment, op, *launch.program, mask, same, target - kCodeWindow, target);
}

Step park(Warp& warp, Fragment& fragment, uint32_t mask, Wait wait, uint8_t barrier, uint32_t wanted,
          BarrierVote vote = BarrierVote::none) {
  leave_out(warp, fragment, mask);
  fragment.wait = wait;
  fragment.barrier = barrier;
  fragment.wanted = wanted;
  fragment.vote = vote;
  return Step::parked;
}

// BAR's barrier: an immediate, or the register of the first active lane.
uint32_t barrier_number(Warp& warp, const Op& op, uint32_t mask) {
  return op.flags & op_all ? op.imm : word(warp, op.a + 4 * first_lane(mask)) & 15;
}

Step control(Warp& warp, Fragment& fragment, const Op& op, const BoundLaunch& launch) {
  const uint32_t active = fragment.mask;
  uint32_t mask = active & guard_of(warp, op);
  if (is_guarded(op)) warp.machine->ops[op.index].lanes_on += lanes_of(mask);
  if (op.family == Family::bra) {
    return jump(warp, fragment, mask & (warp.pred[op.x] ^ (op.x_invert ? kFull : 0)), op.imm);
  }
  if (op.family == Family::exit) mask &= warp.pred[op.x] ^ (op.x_invert ? kFull : 0);
  if (mask == 0) {
    fragment.pc += 1;
    return Step::go_on;
  }
  switch (op.family) {
    case Family::bra_any:  // all lanes jump if any of them does
      return jump(warp, fragment, active, op.imm);
    case Family::bra_div:
    case Family::bra_conv: {
      const uint32_t wanted = (word(warp, op.a) ^ op.xor_a) & warp.live;
      const bool converged = (wanted & ~active) == 0;
      return jump(warp, fragment, converged == (op.family == Family::bra_conv) ? mask : 0, op.imm);
    }
    case Family::brx:
    case Family::ret:
      return return_to(warp, fragment, op, launch, mask);
    case Family::exit:
      warp.live &= ~mask;
      fragment.mask &= ~mask;
      fragment.pc += 1;
      if (fragment.mask != 0) return Step::go_on;
      fragment = Fragment{};
      return Step::parked;
    case Family::bsync: {
      // Lanes that entered the region in different groups wait only for their own group.
      const auto [noted, same] = of_first_lane(mask, [&](uint32_t lane) { return warp.barrier[op.barrier][lane]; });
      if (same == active && (noted & warp.live & ~active) == 0) break;
      if (same == active && (noted & mask) == 0) break;  // these lanes have left it (BREAK)
      if (same != mask) {
        new_fragment(warp, mask & ~same, fragment.pc);
        fragment.mask &= ~(mask & ~same);
        return Step::go_on;
      }
      return park(warp, fragment, mask, Wait::bsync, op.barrier, 0);
    }
    case Family::warpsync: {
      const uint32_t first = op.variant & Variant::a ? 0 : first_lane(mask);
      const uint32_t wanted = op.flags & op_all ? kFull : word(warp, op.a + 4 * first);
      if (warp.machine->observer != nullptr) warp.machine->observer->warp_synced(warp.id);
      if (mask == active && (wanted & warp.live & ~active) == 0) break;
      return park(warp, fragment, mask, Wait::warpsync, 0, wanted);
    }
    case Family::bar_sync: {
      const uint32_t id = barrier_number(warp, op, mask);
      // In a register, the count is in the bits above the barrier's number.
      const uint32_t count = op.e == 0 ? op.second : word(warp, op.e + 4 * first_lane(mask)) >> 16 & 0xfff;
      return park(warp, fragment, mask, Wait::bar, static_cast<uint8_t>(id), count);
    }
    case Family::bar_reduce: {
      const uint32_t votes = mask & (warp.pred[op.x] ^ (op.x_invert ? kFull : 0));
      warp.machine->barriers.votes[op.imm] += static_cast<uint32_t>(__builtin_popcount(votes));
      warp.machine->barriers.voters[op.imm] += lanes_of(mask);
      return park(warp, fragment, mask, Wait::bar, static_cast<uint8_t>(op.imm), op.second, op.detail.barrier_vote);
    }
    case Family::bar_arrive: {
      const uint32_t id = barrier_number(warp, op, mask);
      warp.machine->barriers.arrived[id] += 1;
      if (warp.machine->observer != nullptr) warp.machine->observer->arrived(warp.id, id);
      break;
    }
    case Family::call_absolute:
      return call_absolute(warp, fragment, op, launch, mask);
    default:
      break;
  }
  fragment.pc += 1;
  return Step::go_on;
}

}  // namespace

void bind(Op& op, const HandlerTable& table, bool sets_mode) {
  if (is_control(op.family)) return;
  HandlerPair pair = table.pairs[static_cast<int>(op.family)][op.variant];
  if (op.family == Family::general) {  // the same handler for all hosts
    pair.full = pair.masked = general_handler(op);
  } else if (op.family == Family::lop3 && op.p == kPredicateTrash && op.variant < Variant::modified &&
             table.lop3[op.imm][op.variant].full != nullptr) {
    pair = table.lop3[op.imm][op.variant];
  }
  op.full = pair.full;
  op.masked = pair.masked;
  op.entry = is_guarded(op) ? (sets_mode ? guarded_with_mode : guarded) : (sets_mode ? with_mode : pair.full);
}

WarpEnd run_warp(Warp& warp, const BoundLaunch& launch, const Op* ops, uint64_t slice) {
  const Program& program = *launch.program;
  Machine& machine = *warp.machine;
  warp.turn_end = warp.steps + slice;
  warp.polls = false;
  for (;;) {
    // Runs the lowest fragment that can run; after a slice, the next one.
    uint32_t chosen = 32;
    for (uint32_t i = 0; i < warp.fragment_count; ++i) {
      const uint32_t k = (warp.next_fragment + i) % warp.fragment_count;
      if (warp.fragments[k].wait == Wait::ready) {
        chosen = k;
        break;
      }
    }
    if (chosen == 32) return warp.live == 0 ? WarpEnd::exited : WarpEnd::parked;
    Fragment& fragment = warp.fragments[chosen];
    warp.next_fragment = 0;
    Step step = Step::go_on;
    while (step == Step::go_on) {
      const uint32_t id = program.block_of[fragment.pc];
      const Block& block = program.blocks[id];
      const uint32_t active = fragment.mask;
      BlockCounts& counts = machine.blocks[id];
      ++counts.executions;
      counts.threads += lanes_of(active);
      if (__builtin_expect(warp.trace != nullptr, 0)) {
        if (warp.trace_count < warp.trace_capacity) {
          warp.trace[warp.trace_count] = CtaTrace::entry(id, lanes_of(active));
        }
        ++warp.trace_count;
      }
      warp.steps += block.count;
      const Op* op = ops + block.first;
      const Op* const last = op + block.count - 1;
      const bool ends_in_control = is_control(last->family);
      const Op* const stop = ends_in_control ? last : last + 1;
      if (active == kFull) {
        for (; op != stop; ++op) op->entry(warp, *op, kFull);
      } else {
        for (; op != stop; ++op) run_partly(warp, *op, active);
      }
      if (__builtin_expect(machine.fault.kind != FaultKind::none, 0)) return WarpEnd::fault;
      if (ends_in_control) {
        fragment.pc = last->index;
        step = control(warp, fragment, *last, launch);
      } else {
        fragment.pc = block.first + block.count;
        if (fragment.pc >= program.ops.size()) {  // past the end of the code
          machine.fault = {FaultKind::bad_target, last->index, __builtin_ctz(active), fragment.pc * uint64_t{16}, 0};
          return WarpEnd::fault;
        }
      }
      if (warp.steps >= warp.turn_end) break;
    }
    if (step == Step::fault) return WarpEnd::fault;
    if (step == Step::parked) release(warp);
    if (warp.steps >= warp.turn_end) {
      // Other lanes of this warp get the next slice.
      bool ready = false;
      for (uint32_t i = 0; i < warp.fragment_count; ++i) ready |= warp.fragments[i].wait == Wait::ready;
      warp.next_fragment = chosen + 1;
      if (ready) return WarpEnd::slice;
    }
  }
}

}  // namespace attnscope::emulator
