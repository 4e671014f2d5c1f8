// mbarrier: the object that threads and their copies arrive at, phase by phase.
//
// Before sm_90 the code begins it with two words (as NVRTC writes mbarrier.init of n): 2^30 - n, from which a new phase
// counts up, and 2^31 - n. An arrival adds 1 to the second word, and when that reaches its top bit, which is the
// phase, the next phase begins. mbarrier.arrive_drop adds 1 to the first word too, and cp.async.mbarrier.arrive first
// takes 1 from the second.
//
// From sm_90 on its 64 bits are: 1 to 20 the expected arrivals, 21 to 41 the transactions, 43 to 62 the pending
// arrivals (all three negative), 63 the phase. A phase is over when nothing is pending and no transaction is left.
// cp.async.mbarrier.arrive counts as a transaction, and its .noinc form as an arrival. An arrival returns the upper
// word before; the lower one is 0. An H100 returned these words for nine arrivals in a row; bit 0 is our own.
#include <cstring>

#include "emulator/exec/general.h"
#include "emulator/exec/lane_address.h"

namespace attnscope::emulator {

namespace {

constexpr uint64_t kPhase = uint64_t{1} << 63;
constexpr int kPendingBit = 43, kTransactionBit = 21, kExpectedBit = 1;
constexpr uint64_t kArrivalMask = (1u << 20) - 1, kTransactionMask = (1u << 21) - 1;
constexpr uint64_t kNothingPending = 1;  // while transactions are left

uint64_t arrived(uint64_t state, const Arrival& by, uint32_t arrivals) {
  if (!by.counts_transactions) {
    const auto low = static_cast<uint32_t>(state);
    const auto high = static_cast<uint32_t>(state >> 32);
    uint32_t next = high + arrivals;
    if (((next ^ high) & 0x80000000u) != 0) next = (next & 0x80000000u) | (0x40000000u + (low & 0x3fffffffu));
    return Lane::join(low, next);
  }
  uint64_t expected = state >> kExpectedBit & kArrivalMask, pending = state >> kPendingBit & kArrivalMask;
  uint64_t transactions = state >> kTransactionBit & kTransactionMask, phase = state & kPhase;
  bool nothing_pending = (state & kNothingPending) != 0;
  if (by.drops) expected = (expected + 1) & kArrivalMask;
  transactions = (transactions + static_cast<uint64_t>(int64_t{by.transactions})) & kTransactionMask;
  pending = (pending + arrivals) & kArrivalMask;
  if (arrivals != 0 && pending == 0) nothing_pending = true;
  if (nothing_pending && transactions == 0) {
    nothing_pending = false;
    pending = expected;
    phase ^= kPhase;
  }
  return phase | pending << kPendingBit | transactions << kTransactionBit | expected << kExpectedBit |
         (nothing_pending ? kNothingPending : 0);
}

// The host's place of a lane's mbarrier; nullptr after a fault.
uint8_t* mbarrier_of(Warp& warp, const Op& op, uint32_t lane) {
  const auto address = static_cast<uint32_t>(lane_address(warp, op, lane).address);
  if (address < warp.shared_low || address + uint64_t{8} > warp.shared_high) {
    set_fault(warp, op, FaultKind::shared_outside, lane, address, 8);
    return nullptr;
  }
  if (address % 8 != 0) {
    set_fault(warp, op, FaultKind::shared_misaligned, lane, address, 8);
    return nullptr;
  }
  return warp.shared + address;
}

void note_arrival(Warp& warp, uint32_t address) {
  CtaBarriers& barriers = warp.machine->barriers;
  ++barriers.arrivals;
  for (uint32_t i = 0; i < barriers.mbarrier_count; ++i)
    if (barriers.mbarriers[i] == address) return;
  if (barriers.mbarrier_count < CtaBarriers::kMostMbarriers) barriers.mbarriers[barriers.mbarrier_count++] = address;
}

void arrive(Warp& warp, const Op& op, uint32_t mask, bool returns) {
  OpCounts& counts = warp.machine->ops[op.index];
  ++(mask == 0 ? counts.empty_requests : counts.requests);
  each_lane(warp, op, mask, [&](const Lane& l) {
    uint8_t* const at = mbarrier_of(warp, op, l.lane);
    if (at == nullptr) return;
    uint64_t state;
    std::memcpy(&state, at, 8);
    const Arrival& by = op.detail.arrival;
    const uint64_t next = arrived(state, by, by.from_register ? l.raw(op.c, 2) : by.arrivals);
    std::memcpy(at, &next, 8);
    if (returns) l.set64(by.counts_transactions ? state >> 32 << 32 : state);
    note_arrival(warp, static_cast<uint32_t>(at - warp.shared));
  });
}

}  // namespace

// Returns the state before, whose phase a wait compares.
void g_arrive(Warp& warp, const Op& op, uint32_t mask) { arrive(warp, op, mask, true); }
// Every copy is done at once here, so that this thread's earlier ones have arrived.
void g_copies_arrive(Warp& warp, const Op& op, uint32_t mask) { arrive(warp, op, mask, false); }

void g_begin_mbarrier(Warp& warp, const Op& op, uint32_t mask) {
  OpCounts& counts = warp.machine->ops[op.index];
  ++(mask == 0 ? counts.empty_requests : counts.requests);
  if (mask == 0) return;
  uint8_t* const at = mbarrier_of(warp, op, first_lane(mask));
  if (at == nullptr) return;
  uint64_t state, next;  // uniform registers, of one word each
  std::memcpy(&state, at, 8);
  std::memcpy(&next, bytes_of(warp) + op.c, 8);
  std::memcpy(at, &next, 8);
  std::memcpy(bytes_of(warp) + op.dst, &state, 8);
}

// Sets p for lanes whose phase is not the register's. A warp whose lanes wait gives way to the others.
void g_check_phase(Warp& warp, const Op& op, uint32_t mask) {
  OpCounts& counts = warp.machine->ops[op.index];
  ++(mask == 0 ? counts.empty_requests : counts.requests);
  uint32_t over = 0;
  each_lane(warp, op, mask, [&](const Lane& l) {
    const uint8_t* const at = mbarrier_of(warp, op, l.lane);
    if (at == nullptr) return;
    uint64_t state;
    std::memcpy(&state, at, 8);
    const bool differs = ((state >> 32 ^ l.raw(op.c, 2)) & 0x80000000u) != 0;
    over |= uint32_t{differs} << l.lane;
  });
  set_predicate(warp, op.p, over, mask);
  if (over == mask) return;
  warp.polls = true;
  warp.polled_op = op.index;
  warp.turn_end = warp.steps;
}

void g_nothing(Warp&, const Op&, uint32_t) {}

}  // namespace attnscope::emulator
