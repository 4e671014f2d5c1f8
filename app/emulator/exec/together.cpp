// Cooperative launches: all CTAs of the grid exist at once and take turns on one host thread, so that a CTA that waits
// for others, as grid.sync() does, gives way to them. One thread makes the counts the same every time.
#include <immintrin.h>

#include <algorithm>

#include "core/hash.h"
#include "emulator/exec/cta.h"
#include "emulator/exec/lane_address.h"

namespace attnscope::emulator {

namespace {

// The grid's state is compared after so many rounds, which is a multiple of short periods: lanes of a warp that poll
// take turns too. So many equal states in a row are a deadlock.
constexpr uint32_t kRoundsBetween = 60, kEqualStates = 3;

// Of the words that the lanes of `mask` just read.
uint64_t digest_of(Warp& warp, const Op& op, uint32_t mask) {
  uint64_t digest = mask;
  for (uint32_t at = 0; at < op.bytes; at += 4)
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      digest ^= word(warp, op.dst + 32 * at + 4 * first_lane(rest));
      digest *= 0x9e3779b97f4a7c15u;
      digest ^= digest >> 29;
    }
  return digest;
}

// Performs an instruction that may wait for other CTAs. If it reads what the warp read there before, the warp's turn
// ends.
void poll(Warp& warp, const Op& op, uint32_t mask) {
  const Machine& machine = *warp.machine;
  const Poll& own = machine.polls[op.index];
  (mask == kFull ? own.full : own.masked)(warp, op, mask);
  if (mask == 0) return;
  const uint64_t digest = digest_of(warp, op, mask);
  uint64_t& last = machine.polled[size_t{warp.id} * machine.poll_count + own.number];
  warp.polls = last == digest;
  last = digest;
  if (!warp.polls) return;
  warp.polled_op = op.index;
  warp.turn_end = warp.steps;
}

// Before sm_90 a warp waits for a phase by loading the second word of the mbarrier.
void poll_mbarrier(Warp& warp, const Op& op, uint32_t mask) {
  const Machine& machine = *warp.machine;
  const CtaBarriers& barriers = machine.barriers;
  const auto address = mask == 0 ? 0 : static_cast<uint32_t>(lane_address(warp, op, first_lane(mask)).address);
  const uint32_t *const begin = barriers.mbarriers, *const end = begin + barriers.mbarrier_count;
  if (mask != 0 && std::find(begin, end, address - 4) != end) return poll(warp, op, mask);
  const Poll& own = machine.polls[op.index];
  (mask == kFull ? own.full : own.masked)(warp, op, mask);
}

void give_handler(BoundLaunch& bound, Op& op, Handler handler) {
  const bool direct = op.entry == op.full;
  bound.polls[op.index] = {op.full, op.masked, bound.poll_count++};
  op.full = op.masked = handler;
  if (direct) op.entry = handler;
}

}  // namespace

void observe_polls(BoundLaunch& bound) {
  const bool mbarriers = std::ranges::any_of(
      bound.ops, [](const Op& op) { return op.effect == Effect::arrives && !op.detail.arrival.counts_transactions; });
  if (!bound.cooperative && !mbarriers) return;
  const uint32_t no_target = kLaneFileOffset + (bound.program->lane_registers + kZeroRegisters) * 128;
  bound.polls.resize(bound.ops.size());
  for (Op& op : bound.ops) {
    const bool others_write = op.space == Space::global || op.space == Space::generic;
    const bool strong = op.access == AccessKind::both || (op.access == AccessKind::load && (op.flags & op_strong) != 0);
    if (mbarriers && op.family == Family::lds_32) give_handler(bound, op, poll_mbarrier);
    if (bound.cooperative && others_write && strong && op.dst != no_target) give_handler(bound, op, poll);
  }
}

uint64_t CtaRunner::bytes_of_cta(const BoundLaunch& launch) {
  const uint64_t warp = kLaneFileOffset + launch.program->lane_file_bytes() + uint64_t{launch.local_bytes} * 32;
  return launch.warps * warp + launch.shared_bytes;
}

// Makes `other` the running CTA, and the running one wait in its place.
void CtaRunner::change_cta(Resident& other) {
  cta_.barriers = machine_.barriers;
  std::swap(cta_, other);
  machine_.barriers = cta_.barriers;
  machine_.observer = cta_.observer;
  machine_.polled = cta_.polled.data();
  log_.cta = machine_.cta = cta_.linear;
}

CtaEnd CtaRunner::run_together(const std::atomic<bool>& stop, const Together& told, uint32_t& linear) {
  const unsigned saved_mode = _mm_getcsr();
  residents_.clear();
  residents_.resize(size_t{launch_->grid[0]} * launch_->grid[1] * launch_->grid[2]);
  cta_ = {};
  for (uint32_t i = 0; i < residents_.size(); ++i) {
    machine_.observer = launch_->observe ? launch_->observe() : nullptr;
    make_warps();
    begin(i);
    cta_.observer = machine_.observer;
    change_cta(residents_[i]);
  }
  ended_ = 0;
  order_.reset();
  if (const uint64_t seed = launch_->options->order_seed; seed != 0) order_.emplace(seed, ~0u);
  machine_.mxcsr = 0;  // unknown
  CtaEnd end = CtaEnd::polls;
  std::string state;
  for (uint32_t round = 1, equal = 0; end == CtaEnd::polls; ++round) {
    end = run_round(stop, told.ended, linear);
    if (end == CtaEnd::polls && told.goes_on && !told.goes_on()) end = CtaEnd::stopped;
    if (end != CtaEnd::polls || round % kRoundsBetween != 0) continue;
    std::string now = state_of_grid();
    equal = now == state ? equal + 1 : 0;
    state = std::move(now);
    if (equal == kEqualStates) end = CtaEnd::grid_deadlock;
  }
  _mm_setcsr(saved_mode);
  return end == CtaEnd::grid_deadlock ? who_deadlocks(linear) : end;
}

// Nothing goes on. The running CTA becomes the one that the failure is about: the first that waits only for its own
// threads, or else the first that waits for other CTAs.
CtaEnd CtaRunner::who_deadlocks(uint32_t& linear) {
  std::optional<uint32_t> first;
  for (uint32_t i = 0; i < residents_.size(); ++i) {
    if (residents_[i].done) continue;
    if (!first) first = i;
    change_cta(residents_[i]);
    linear = i;
    if (waits_for_itself()) return CtaEnd::deadlock;
    change_cta(residents_[i]);
  }
  linear = *first;
  change_cta(residents_[linear]);
  return CtaEnd::grid_deadlock;
}

// Whether each thread of the running CTA waits at a barrier of the CTA or polls an mbarrier, which no other CTA
// reaches.
bool CtaRunner::waits_for_itself() const {
  for (uint32_t w = 0; w < launch_->warps; ++w) {
    const Warp& one = warp(w);
    const auto polling = std::count_if(one.fragments, one.fragments + one.fragment_count,
                                       [](const Fragment& fragment) { return fragment.wait == Wait::ready; });
    // Of a warp whose lanes are apart only the last poll is known.
    if (polling > 1 || (polling == 1 && cta_.ops[one.polled_op].space != Space::shared)) return false;
  }
  return true;
}

// A turn of each CTA that has not ended. `polls`: some still have not.
CtaEnd CtaRunner::run_round(const std::atomic<bool>& stop, const std::function<void(uint32_t cta)>& ended,
                            uint32_t& linear) {
  const auto ctas = static_cast<uint32_t>(residents_.size());
  const uint32_t first = order_ ? order_->next() % ctas : 0;
  for (uint32_t turn = 0; turn < ctas; ++turn) {
    const uint32_t i = (first + turn) % ctas;
    if (residents_[i].done) continue;
    change_cta(residents_[i]);
    linear = i;
    const CtaEnd end = run_warps(stop);
    if (end != CtaEnd::done && end != CtaEnd::polls) return end;  // it stays the running one, for describe()
    if (end == CtaEnd::done) {
      if (cta_.traced) keep_trace(i);
      cta_ = {};
      cta_.linear = i;
      cta_.done = true;
      ++ended_;
    }
    change_cta(residents_[i]);
    if (end == CtaEnd::done) ended(i);
  }
  return ended_ == ctas ? CtaEnd::done : CtaEnd::polls;
}

// What a warp's further way depends on besides memory: where its lanes are, and its registers.
std::string CtaRunner::state_of_grid() {
  std::string state;
  for (Resident& one : residents_) {
    if (one.done) continue;
    change_cta(one);
    for (uint32_t w = 0; w < launch_->warps; ++w) {
      const Warp& of = warp(w);
      const auto* const file = cta_.warps.get() + w * warp_stride_ + kLaneFileOffset;
      state += xxh3_128(std::span(file, launch_->program->lane_file_bytes()));
      state += xxh3_128(std::as_bytes(std::span(of.pred))) + xxh3_128(std::as_bytes(std::span(of.ur))) +
               xxh3_128(std::as_bytes(std::span(of.fragments)));
    }
    change_cta(one);
  }
  return state;
}

}  // namespace attnscope::emulator
