// What each watched instruction does in addition to its own work.
#include "emulator/watch/watch.h"

#include <algorithm>
#include <cstring>

#include "emulator/exec/lane_address.h"

namespace attnscope::emulator {

namespace {

bool is_shared_load(Family family) { return family >= Family::lds_u16 && family <= Family::lds_128; }
// The phase of an mbarrier is the top bit of its second word.
bool phase_of(const Warp& warp, uint32_t address) {
  uint32_t high;
  std::memcpy(&high, warp.shared + address + 4, 4);
  return high >> 31 != 0;
}

bool is_shared_store(Family family) { return family >= Family::sts_u16 && family <= Family::sts_128; }

// True if two instructions come from one place in the source. Unrolled code may contain copies of one barrier. A
// barrier in an inlined function is as many places as the calls that lead to it.
bool same_place(const Program& program, uint32_t a, uint32_t b) {
  if (a == b) return true;
  const auto &one = program.sass->instructions[a], &other = program.sass->instructions[b];
  return one.line.line != 0 && one.line == other.line && one.inlined_at == other.inlined_at;
}

}  // namespace

template <Watch::Look kLook>
void Watch::look(Warp& warp, const Op& op, uint32_t mask) {
  auto& watch = static_cast<Watch&>(*warp.machine->observer);
  if (mask == 0) return watch.handle(warp, op, mask);
  (watch.*kLook)(warp, op, mask);
}

Handler Watch::handler_of(const Op& op) {
  switch (op.effect) {
    case Effect::syncs_warp:
      return look<&Watch::warp_sync>;
    case Effect::fences_device:
      return look<&Watch::fence>;
    case Effect::closes_copies:
      return look<&Watch::close_group>;
    case Effect::awaits_copies:
      return look<&Watch::await_groups>;
    case Effect::copies:
      return look<&Watch::copy>;
    case Effect::begins_mbarrier:
      return look<&Watch::begin_mbarrier>;
    case Effect::arrives:
    case Effect::copies_arrive:
      return look<&Watch::arrive>;
    case Effect::checks_phase:
      return look<&Watch::check_phase>;
    case Effect::swaps:
    case Effect::none:
      break;
  }
  if (is_shuffle(op.family)) return look<&Watch::shuffle>;
  if (is_shared_load(op.family)) return look<&Watch::shared_load>;
  if (is_shared_store(op.family)) return look<&Watch::shared_store>;
  if (is_matrix_load(op)) return look<&Watch::matrix_load>;
  if (op.access == AccessKind::none) return nullptr;
  if (op.space == Space::local) return look<&Watch::local>;
  if (op.space == Space::global) return look<&Watch::global>;
  return look<&Watch::any_space>;
}

void Watch::bind(Op& op, Unwatched& own) {
  const Handler handler = handler_of(op);
  if (handler == nullptr) return;
  own = observe(op, handler, !is_shuffle(op.family));  // with all lanes active, a shuffle has no absent lane
}

void Watch::prepare(const Program& program, const std::vector<Unwatched>& unwatched, GlobalShadow* shadow,
                    uint32_t warps, uint32_t shared_low, uint32_t shared_bytes, uint32_t local_bytes) {
  program_ = &program;
  unwatched_ = unwatched.data();
  warps_ = warps;
  shared_low_ = shared_low;
  local_bytes_ = local_bytes;
  log_.prepare(program, order_);
  order_.prepare(warps);
  shared_.prepare(program, warps, least_width(program, Space::shared), shared_bytes, order_, log_);
  global_.prepare(program, *shadow, log_);
  copy_patterns_.assign(program.ops.size(), nullptr);
}

uint64_t Watch::bytes_taken(const Program& program, uint32_t warps, uint32_t shared_bytes, uint32_t local_bytes) {
  return SharedShadow::bytes_taken(program, warps, least_width(program, Space::shared), shared_bytes) +
         program.ops.size() * sizeof(copy_patterns_[0]) + uint64_t{warps} * local_bytes * sizeof(local_written_[0]);
}

void Watch::start(uint32_t cta) {
  log_.start(cta);
  shared_.start(order_.start());
  global_.start(cta, warps_);
  mbarriers_.clear();
  local_written_.assign(size_t{warps_} * local_bytes_, 0);
}

// --- What orders accesses
// ---------------------------------------------------------------------------------------------

void Watch::warp_synced(uint32_t warp) {
  order_.advance(warp);
  global_.order().lanes_synced(warp);
}

void Watch::arrived(uint32_t warp, uint32_t barrier) {
  order_.arrived(warp, barrier);
  global_.order().arrived(warp, barrier);
}

void Watch::released(uint32_t barrier, const std::vector<std::pair<uint32_t, uint32_t>>& waiting, bool whole,
                     uint32_t exited) {
  if (!whole) exited = 0;
  uint32_t passing = 0;
  for (const auto& [warp, at] : waiting) passing |= 1u << warp;
  if (order_.released(barrier, passing, exited)) shared_.met();
  global_.order().released(barrier, passing | exited, passing);
  if (!whole) return;  // groups of warps may run different code
  for (const auto& [warp, at] : waiting) {
    if (same_place(*program_, at, waiting[0].second)) continue;
    log_.report(WatchKind::barrier_uneven, at, waiting[0].second, barrier, warp * 32, waiting[0].first * 32);
  }
}

void Watch::warp_sync(Warp& warp, const Op& op, uint32_t mask) {
  warp_synced(warp.id);
  handle(warp, op, mask);
}

void Watch::fence(Warp& warp, const Op& op, uint32_t mask) {
  global_.order().fenced(warp.id);
  handle(warp, op, mask);
}

void Watch::close_group(Warp& warp, const Op& op, uint32_t mask) {
  shared_.close_group(warp.id);
  handle(warp, op, mask);
}

void Watch::await_groups(Warp& warp, const Op& op, uint32_t mask) {
  shared_.await_groups(warp.id, op.detail.copies_left);
  handle(warp, op, mask);
}

// --- Shared memory ---------------------------------------------------------------------------------------------------

namespace {

uint32_t shared_address(Warp& warp, const Op& op, uint32_t lane) {
  uint32_t address, uniform = 0;
  std::memcpy(&address, bytes_of(warp) + op.a + 4 * lane, 4);
  if (op.flags & op_address_uniform) std::memcpy(&uniform, bytes_of(warp) + op.b, 4);
  return (address << op.shift) + op.imm + uniform;
}

Access store_access(uint32_t bytes) {
  return bytes == 2   ? Access::shared_store_2
         : bytes == 4 ? Access::shared_store_4
         : bytes == 8 ? Access::shared_store_8
                      : Access::shared_store_16;
}

}  // namespace

void Watch::shared_load(Warp& warp, const Op& op, uint32_t mask) {
  if (!mbarriers_.empty() && op.bytes == 4) {  // before sm_90 a wait loads an mbarrier's second word
    const auto waits = mbarriers_.find(shared_address(warp, op, first_lane(mask)) - 4);
    if (waits != mbarriers_.end()) {
      handle(warp, op, mask);
      return take(warp.id, waits->second);
    }
  }
  load(warp, op, mask, shared_address(warp, op, first_lane(mask)), op.bytes);
}

void Watch::matrix_load(Warp& warp, const Op& op, uint32_t mask) {
  load(warp, op, mask, shared_address(warp, op, 0), 16);
}

// The handler computes the pattern of the lanes' addresses. It may overwrite the register that held them, so the first
// lane's address is read before, as `address`.
void Watch::load(Warp& warp, const Op& op, uint32_t mask, uint32_t address, uint32_t bytes) {
  const Machine& machine = *warp.machine;
  handle(warp, op, mask);
  if (machine.fault.kind != FaultKind::none) return;
  shared_.read(warp.id, op, machine, *machine.last[op.index], bytes, address - shared_low_);
}

void Watch::shared_store(Warp& warp, const Op& op, uint32_t mask) {
  store(warp, op, mask, false);
  handle(warp, op, mask);
}

void Watch::copy(Warp& warp, const Op& op, uint32_t mask) {
  global_.copy_source(warp, op, mask);
  store(warp, op, mask, true);
  handle(warp, op, mask);
}

void Watch::store(Warp& warp, const Op& op, uint32_t mask, bool copy) {
  const uint32_t lane = first_lane(mask), address = shared_address(warp, op, lane);
  const uint32_t phase = address & (op.bytes < 4 ? 3u : op.bytes - 1u);
  const Pattern& pattern = store_pattern(warp, op, mask, lane, phase, copy);
  const int64_t low = int64_t{address} + pattern.low, high = int64_t{address} + pattern.high;
  if (low < warp.shared_low || high + op.bytes > warp.shared_high || !pattern.aligned) return;  // a fault follows
  shared_.write(warp, op, pattern, address - shared_low_, warp.shared + address, copy);
}

// The instruction's last pattern if it still fits. The machine keeps only the global side's pattern for a copy.
const Pattern& Watch::store_pattern(Warp& warp, const Op& op, uint32_t mask, uint32_t lane, uint32_t phase, bool copy) {
  Machine& machine = *warp.machine;
  const auto* const registers = reinterpret_cast<const uint32_t*>(bytes_of(warp) + op.a);
  const uint32_t origin = registers[lane] << op.shift;
  alignas(16) int32_t delta[32];
  for (uint32_t i = 0; i < 32; ++i) delta[i] = static_cast<int32_t>((registers[i] << op.shift) - origin);
  if (mask != kFull)
    for (uint32_t i = 0; i < 32; ++i) delta[i] &= -static_cast<int32_t>(mask >> i & 1);
  const Pattern*& last = copy ? copy_patterns_[op.index] : machine.last[op.index];
  const Access access = store_access(op.bytes);
  if (last != nullptr && last->mask == mask && last->phase == phase && last->access == static_cast<uint8_t>(access)) {
    int32_t differ = 0;
    for (uint32_t i = 0; i < 32; ++i) differ |= delta[i] ^ last->delta[i];
    if (differ == 0) return *last;
  }
  const Pattern* const own = machine.last[op.index];
  const uint32_t restarts = machine.pattern_restarts;
  last = &find_pattern(machine, op.index, access, delta, mask, phase);
  if (copy) machine.last[op.index] = machine.pattern_restarts == restarts ? own : machine.none;
  return *last;
}

// One lane at a time.
void Watch::any_space(Warp& warp, const Op& op, uint32_t mask) {
  std::unique_lock<std::mutex> turn;  // for memory that other CTAs may access too
  uint32_t step = 0;
  if (op.space == Space::generic) {
    turn = global_.turn();
    step = global_.order().next_step();
  }
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t lane = first_lane(rest);
    const LaneAddress at = lane_address(warp, op, lane);
    if (at.space == Space::shared) shared_lane(warp, op, lane, static_cast<uint32_t>(at.address));
    if (at.space == Space::local) local_lane(warp, op, lane, static_cast<uint32_t>(at.address));
    if (at.space == Space::global) global_.lane_access(warp, op, lane, at.address, op.access, step);
  }
  handle(warp, op, mask);
}

void Watch::shared_lane(Warp& warp, const Op& op, uint32_t lane, uint32_t address) {
  if (address < warp.shared_low || uint64_t{address} + op.bytes > warp.shared_high) return;  // a fault follows
  // One that counts an mbarrier's arrivals returns nothing, so that nothing is ordered after it.
  const bool of_mbarrier = mbarriers_.contains(address) || mbarriers_.contains(address - 4);
  if (op.access == AccessKind::both && !of_mbarrier) {
    order_.atomic(warp.id, address / 4);
    global_.order().atomic(warp.id, address / 4);
  }
  const bool same = op.access == AccessKind::store && stores_the_same(warp, op, lane, warp.shared + address);
  shared_.lane_access(warp.id, op, lane, address - shared_low_, op.bytes, same);
}

// --- mbarriers
// -------------------------------------------------------------------------------------------------------

// One thread does it, for the warp.
void Watch::begin_mbarrier(Warp& warp, const Op& op, uint32_t mask) {
  const uint32_t lane = first_lane(mask), address = static_cast<uint32_t>(lane_address(warp, op, lane).address);
  if (address >= warp.shared_low && uint64_t{address} + op.bytes <= warp.shared_high)
    shared_.lane_access(warp.id, op, lane, address - shared_low_, op.bytes, false);
  handle(warp, op, mask);
}

// Arrivals do not wait, so they are atomics that order nothing after themselves.
void Watch::arrive(Warp& warp, const Op& op, uint32_t mask) {
  std::map<uint32_t, bool> phases;  // by address: the phase before
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t lane = first_lane(rest), address = static_cast<uint32_t>(lane_address(warp, op, lane).address);
    if (address < warp.shared_low || uint64_t{address} + op.bytes > warp.shared_high) continue;  // a fault follows
    if (phases.contains(address)) continue;
    shared_.lane_access(warp.id, op, lane, address - shared_low_, op.bytes, false);
    arrive_at(warp, address, op.effect == Effect::copies_arrive);
    phases[address] = phase_of(warp, address);
  }
  handle(warp, op, mask);
  for (const auto& [address, before] : phases) {
    if (phase_of(warp, address) == before) continue;
    Mbarrier& over = mbarriers_[address];
    std::vector<Mbarrier::Copies> copies = std::move(over.before.copies);
    copies.insert(copies.end(), over.now.copies.begin(), over.now.copies.end());
    over.before = std::move(over.now);
    over.before.copies = std::move(copies);
    over.now.copies.clear();
  }
}

void Watch::arrive_at(Warp& warp, uint32_t address, bool copies) {
  Mbarrier::Arrived& now = mbarriers_[address].now;
  if (copies) now.copies.push_back({warp.id, shared_.groups_arrive(warp.id), order_.clock(warp.id)});
  order_.give(warp.id, now.shared);
  global_.order().give(warp.id, now.global);
}

void Watch::check_phase(Warp& warp, const Op& op, uint32_t mask) {
  handle(warp, op, mask);
  for (uint32_t over = warp.pred[op.p] & mask; over != 0; over &= over - 1) {
    const auto waits = mbarriers_.find(static_cast<uint32_t>(lane_address(warp, op, first_lane(over)).address));
    if (waits != mbarriers_.end()) take(warp.id, waits->second);
  }
}

// The warp is ordered after what arrived in the phases that are over.
void Watch::take(uint32_t warp, Mbarrier& from) {
  order_.take(warp, from.before.shared);
  global_.order().take(warp, from.before.global);
  for (const Mbarrier::Copies& one : from.before.copies) shared_.groups_done(one.warp, one.groups, one.time);
  from.before.copies.clear();
}

// --- Local and global memory, shuffles -------------------------------------------------------------------------------

void Watch::local(Warp& warp, const Op& op, uint32_t mask) {
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t lane = first_lane(rest);
    local_lane(warp, op, lane, static_cast<uint32_t>(lane_address(warp, op, lane).address));
  }
  handle(warp, op, mask);
}

void Watch::local_lane(Warp& warp, const Op& op, uint32_t lane, uint32_t address) {
  if (address >= local_bytes_ || local_bytes_ - address < op.bytes) return;
  uint32_t* const written = &local_written_[size_t{warp.id} * local_bytes_ + address];
  if (op.access == AccessKind::store) {
    for (uint32_t i = 0; i < op.bytes; ++i) written[i] |= 1u << lane;
  } else if (!(written[0] >> lane & 1)) {
    log_.report(WatchKind::local_never_written, op.index, op.index, address, warp.id * 32 + lane, warp.id * 32 + lane);
  }
}

void Watch::global(Warp& warp, const Op& op, uint32_t mask) {
  if (global_.reads_inputs(warp, op, mask)) return handle(warp, op, mask);
  const auto turn = global_.turn();
  global_.access(warp, op, mask);
  handle(warp, op, mask);
}

// A lane that reads a register of a lane that does not take part gets an undefined value.
void Watch::shuffle(Warp& warp, const Op& op, uint32_t mask) {
  const auto value = [&](uint32_t offset, bool one, uint32_t lane) {
    uint32_t word;
    std::memcpy(&word, bytes_of(warp) + offset + (one ? 0 : 4 * lane), 4);
    return word;
  };
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t lane = first_lane(rest);
    const uint32_t by = value(op.b, op.variant & 2, lane) & 31, control = value(op.c, op.variant & 1, lane);
    const uint32_t clamp = control & 31, segment = control >> 8 & 31;
    const int last = static_cast<int>((lane & segment) | (clamp & ~segment));
    int from = static_cast<int>(lane);
    bool in_range = true;
    switch (op.family) {
      case Family::shfl_up:
        from -= static_cast<int>(by);
        in_range = from >= last;
        break;
      case Family::shfl_down:
        from += static_cast<int>(by);
        in_range = from <= last;
        break;
      case Family::shfl_bfly:
        from ^= static_cast<int>(by);
        in_range = from <= last;
        break;
      default:
        from = static_cast<int>((lane & segment) | (by & ~segment));
        in_range = from <= last;
        break;
    }
    if (in_range && !(mask >> from & 1)) {
      log_.report(WatchKind::shuffle_absent_lane, op.index, op.index, 0, warp.id * 32 + lane,
                  warp.id * 32 + static_cast<uint32_t>(from));
    }
  }
  handle(warp, op, mask);
}

}  // namespace attnscope::emulator
