// Runs one CTA on one host thread: its warps in a fixed order, and its barriers.
#include "emulator/exec/cta.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace attnscope::emulator {

namespace {

// Blocks of a warp's path that wait to be folded; enough for two slices of one-instruction blocks.
constexpr uint32_t kMostTraced = 1u << 17;
// Warp instructions between checks of `cancel`; takes well under a millisecond.
constexpr uint64_t kSlice = 1u << 16;
constexpr uint64_t kObservedLoop = 1u << 18;  // warp instructions observed to find where a kernel loops
constexpr uint32_t kLongestTurn = 512;        // warp instructions of one turn in a seeded order
constexpr uint32_t kMostIdle = 100'000;       // turns of all warps that only poll mbarriers
constexpr uint32_t kPatternPoison = 0xffffffffu;

template <class Bytes>
void take(Bytes& memory, size_t& taken, size_t bytes) {
  if (bytes <= taken) return;
  memory.reset(static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{64})));
  taken = bytes;
}

}  // namespace

void CtaRunner::prepare(const BoundLaunch& launch) {
  launch_ = &launch;
  const Program& program = *launch.program;
  warp_stride_ = kLaneFileOffset + program.lane_file_bytes();
  op_counts_.assign(program.ops.size(), {});
  block_counts_.assign(program.blocks.size(), {});
  before_loop_.assign(program.blocks.size(), {});
  no_pattern_.phase = kPatternPoison;
  last_.assign(program.ops.size(), &no_pattern_);
  traces_.clear();
  local_reuses_ = {};
  hot_places_ = {};
  patterns_.resize(kPatterns);
  pattern_keys_.assign(kPatterns, 0);

  machine_ = {};
  machine_.ops = op_counts_.data();
  machine_.blocks = block_counts_.data();
  machine_.last = last_.data();
  machine_.none = &no_pattern_;
  machine_.patterns = patterns_.data();
  machine_.pattern_keys = pattern_keys_.data();
  machine_.op_count = static_cast<uint32_t>(program.ops.size());
  machine_.ranges = launch.ranges.data();
  machine_.range_count = static_cast<uint32_t>(launch.ranges.size());
  machine_.banks = launch.images.data();
  machine_.external = call_external;
  machine_.hot_places = &hot_places_;
  machine_.log = &log_;
  machine_.polls = launch.polls.data();
  machine_.poll_count = launch.poll_count;
  log_ = {};
  residents_.clear();
  if (launch.cooperative) return;  // run_together() makes the CTAs
  make_warps();
  if (launch.observe) machine_.observer = launch.observe();
}

// The memory and the warps of cta_.
void CtaRunner::make_warps() {
  const BoundLaunch& launch = *launch_;
  take(cta_.warps, cta_.warps_bytes, warp_stride_ * launch.warps);
  take(cta_.shared, cta_.shared_bytes, launch.shared_bytes + 64);
  take(cta_.local, cta_.local_bytes, size_t{launch.local_bytes} * 32 * launch.warps + 64);
  const uint32_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  for (uint32_t w = 0; w < launch.warps; ++w) {
    Warp& warp = *new (cta_.warps.get() + w * warp_stride_) Warp;
    std::memset(bytes_of(warp), 0, warp_stride_);
    warp.machine = &machine_;
    warp.id = w;
    warp.shared = reinterpret_cast<uint8_t*>(cta_.shared.get()) - launch.shared_low;
    warp.shared_low = launch.shared_low;
    warp.shared_high = launch.shared_low + launch.shared_bytes;
    warp.local = reinterpret_cast<uint8_t*>(cta_.local.get()) + size_t{w} * launch.local_bytes * 32;
    warp.local_bytes = launch.local_bytes;
    std::copy(launch.constants.begin(), launch.constants.end(), warp.constants);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const uint32_t thread = w * 32 + lane;
      warp.lane_id[lane] = lane;
      warp.tid[0][lane] = thread % launch.block[0];
      warp.tid[1][lane] = thread / launch.block[0] % launch.block[1];
      warp.tid[2][lane] = thread < threads ? thread / launch.block[0] / launch.block[1] : 0;
    }
  }
}

void CtaRunner::start(uint32_t linear) {
  log_.cta = machine_.cta = linear;
  const BoundLaunch& launch = *launch_;
  auto* const words = reinterpret_cast<uint32_t*>(cta_.shared.get());
  std::fill_n(words, launch.shared_bytes / 4, launch.options->shared_fill);
  if (launch.options->random_fill != 0) {
    Random random(launch.options->random_fill, linear);
    for (uint32_t i = 0; i < launch.shared_bytes / 4; ++i) words[i] = random.next();
  }
  if (machine_.observer != nullptr) machine_.observer->start(linear);
  std::memset(cta_.local.get(), 0, size_t{launch.local_bytes} * 32 * launch.warps);
  const uint32_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  machine_.barriers = {};
  cta_.polled.assign(size_t{launch.warps} * launch.poll_count, 0);
  machine_.polled = cta_.polled.data();
  for (uint32_t w = 0; w < launch.warps; ++w) {
    Warp& warp = this->warp(w);
    std::memset(bytes_of(warp) + kLaneFileOffset, 0, launch.program->lane_file_bytes());
    std::memset(warp.pred, 0, sizeof warp.pred);
    warp.pred[kPredicateTrue] = warp.pred[kUniformPredicates + kPredicateTrue] = kFull;
    std::memset(warp.ur, 0, sizeof warp.ur);
    std::memset(warp.barrier, 0, sizeof warp.barrier);
    warp.specials[0] = linear % launch.grid[0];
    warp.specials[1] = linear / launch.grid[0] % launch.grid[1];
    warp.specials[2] = linear / launch.grid[0] / launch.grid[1];
    warp.specials[3] = 0;  // this CTA's rank in a cluster of one
    warp.specials[4] = static_cast<uint32_t>(kSharedWindow >> 32);
    warp.barrier_result = 0;
    const uint32_t lanes = std::min(32u, threads - w * 32);
    warp.live = lanes == 32 ? kFull : (1u << lanes) - 1;
    std::fill(std::begin(warp.fragments), std::end(warp.fragments), Fragment{});
    warp.fragments[0] = {warp.live, 0, 0, Wait::ready, 0};
    warp.fragment_count = 1;
    warp.next_fragment = 0;
    warp.steps = 0;
  }
}

// A barrier opens when the threads that it counts have arrived: all threads of the CTA that have not exited, or the
// given number. As on the hardware, arrivals are counted per warp, at any instruction.
bool CtaRunner::release_barriers() {
  uint32_t waiting[16] = {}, counted[16] = {}, live = 0, exited = 0;  // warps; exited: one bit each
  for (uint32_t w = 0; w < launch_->warps; ++w) {
    const Warp& warp = this->warp(w);
    if (warp.live == 0) {
      exited |= 1u << w;
      continue;
    }
    ++live;
    uint32_t lanes[16] = {};
    for (uint32_t i = 0; i < warp.fragment_count; ++i) {
      const Fragment& fragment = warp.fragments[i];
      if (fragment.wait != Wait::bar) continue;
      lanes[fragment.barrier] |= fragment.mask;
      counted[fragment.barrier] = std::max(counted[fragment.barrier], fragment.wanted / 32);
    }
    for (int id = 0; id < 16; ++id) waiting[id] += lanes[id] == warp.live;
  }
  bool any = false;
  for (uint8_t id = 0; id < 16; ++id) {
    const uint32_t needed = counted[id] != 0 ? counted[id] : live;
    if (waiting[id] == 0 || waiting[id] + machine_.barriers.arrived[id] < needed) continue;
    any = true;
    bool counted_once = false;
    passing_.clear();
    for (uint32_t w = 0; w < launch_->warps; ++w) {
      Warp& warp = this->warp(w);
      for (uint32_t i = 0; i < warp.fragment_count; ++i) {
        Fragment& fragment = warp.fragments[i];
        if (fragment.wait != Wait::bar || fragment.barrier != id) continue;
        if (!std::exchange(counted_once, true)) ++machine_.ops[fragment.pc].requests;
        if (machine_.observer != nullptr) passing_.emplace_back(w, fragment.pc);
        const uint32_t votes = machine_.barriers.votes[id];
        if (fragment.vote == BarrierVote::count) warp.barrier_result = votes;
        if (fragment.vote == BarrierVote::all) warp.barrier_result = votes == machine_.barriers.voters[id];
        if (fragment.vote == BarrierVote::any) warp.barrier_result = votes != 0;
        fragment.wait = Wait::ready;
        fragment.pc += 1;
      }
    }
    if (machine_.observer != nullptr) machine_.observer->released(id, passing_, counted[id] == 0, exited);
    machine_.barriers.arrived[id] = machine_.barriers.votes[id] = machine_.barriers.voters[id] = 0;
  }
  return any;
}

CtaEnd CtaRunner::run(uint32_t linear, const std::atomic<bool>& stop) {
  Observer* const own = machine_.observer;
  begin(linear);
  machine_.mxcsr = 0;  // unknown: the first instruction that needs a mode sets it
  const unsigned saved_mode = _mm_getcsr();
  const CtaEnd end = run_polling(stop);
  _mm_setcsr(saved_mode);
  if (cta_.traced) keep_trace(linear);
  machine_.observer = own;
  return end;
}

// CTA `linear` begins in cta_.
void CtaRunner::begin(uint32_t linear) {
  ObservedCta* const one = launch_->observed.get();
  const bool observed = one != nullptr && one->cta == linear && !one->taken.exchange(true);
  if (observed) machine_.observer = one->observer;
  cta_.ops = observed ? one->ops.data() : launch_->ops.data();
  cta_.linear = linear;
  cta_.random.reset();
  if (const uint64_t seed = launch_->options->order_seed; seed != 0) cta_.random.emplace(seed, linear);
  start(linear);
  const auto& traced = launch_->options->trace_ctas;
  cta_.traced = std::find(traced.begin(), traced.end(), linear) != traced.end();
  if (cta_.traced) begin_trace();
}

// Warps that poll an mbarrier take turns until something arrives; if nothing does for long, that is a deadlock.
CtaEnd CtaRunner::run_polling(const std::atomic<bool>& stop) {
  uint64_t arrivals = 0;
  for (uint32_t idle = 0; idle < kMostIdle; ++idle) {
    const CtaEnd end = run_warps(stop);
    if (end != CtaEnd::polls) return end;
    if (arrivals != machine_.barriers.arrivals) idle = 0;
    arrivals = machine_.barriers.arrivals;
  }
  return CtaEnd::deadlock;
}

CtaEnd CtaRunner::run_warps(const std::atomic<bool>& stop) {
  // With a seed, warps take turns at random, a few instructions at a time.
  std::optional<Random>& random = cta_.random;
  while (true) {
    // Warp 0 goes first, and each warp runs until it waits. When none can continue, barriers open.
    bool ready = false, live = false, polls = false;
    const uint32_t first = random ? random->next() % launch_->warps : 0;
    for (uint32_t turn = 0; turn < launch_->warps; ++turn) {
      const uint32_t w = (first + turn) % launch_->warps;
      if (warp(w).live == 0) continue;
      const WarpEnd warp_end =
          run_warp(warp(w), *launch_, cta_.ops, random ? 1 + random->next() % kLongestTurn : kSlice);
      if (warp(w).trace_count >= kMostTraced / 2) fold_trace(w);  // keeps room for the next turn
      polls |= warp(w).polls;
      ready |= warp_end == WarpEnd::slice && !warp(w).polls;
      live |= warp_end != WarpEnd::exited;
      if (const auto end = end_of(warp_end, w, stop)) return *end;
    }
    if (!live) return CtaEnd::done;
    // A barrier of the kernel's own may read many words, none of them twice in a row: others must have their turn.
    if (ready && launch_->cooperative) return CtaEnd::polls;
    if (!ready && !release_barriers()) return polls ? CtaEnd::polls : CtaEnd::deadlock;
  }
}

// Whether the CTA ends here, after a turn of warp `w`.
std::optional<CtaEnd> CtaRunner::end_of(WarpEnd warp_end, uint32_t w, const std::atomic<bool>& stop) {
  const auto& options = *launch_->options;
  if (machine_.fault.kind != FaultKind::none) fault_warp_ = w;
  if (warp_end == WarpEnd::fault) return CtaEnd::fault;
  if (warp(w).steps > options.step_budget) {
    observe_loop(w, kObservedLoop);
    return machine_.fault.kind == FaultKind::none ? CtaEnd::endless : CtaEnd::fault;
  }
  if (stop.load(std::memory_order_relaxed)) return CtaEnd::stopped;
  if (options.cancel != nullptr && options.cancel->load(std::memory_order_relaxed)) {
    observe_loop(w, kSlice);  // for the location in the message
    return CtaEnd::cancelled;
  }
  return std::nullopt;
}

void CtaRunner::begin_trace() {
  cta_.trace_buffers.resize(launch_->warps);
  for (uint32_t w = 0; w < launch_->warps; ++w) {
    cta_.trace_buffers[w].resize(kMostTraced);
    Warp& warp = this->warp(w);
    warp.trace = cta_.trace_buffers[w].data();
    warp.trace_count = 0;
    warp.trace_capacity = kMostTraced;
  }
  cta_.trace_folders.assign(launch_->warps, {});
  cta_.local_reuse.assign(launch_->warps, {});
  for (uint32_t w = 0; w < launch_->warps; ++w) warp(w).local_reuse = &cta_.local_reuse[w];
}

void CtaRunner::fold_trace(uint32_t warp_index) {
  Warp& warp = this->warp(warp_index);
  cta_.trace_folders[warp_index].add({cta_.trace_buffers[warp_index].data(), warp.trace_count});
  warp.trace_count = 0;
}

void CtaRunner::keep_trace(uint32_t linear) {
  CtaTrace trace{linear, {}};
  bool whole = true;
  for (uint32_t w = 0; w < launch_->warps; ++w) {
    fold_trace(w);
    this->warp(w).trace = nullptr;
    this->warp(w).local_reuse = nullptr;
    local_reuses_.add(cta_.local_reuse[w].counts());
    trace.warps.push_back(cta_.trace_folders[w].finish());
    whole = whole && cta_.trace_folders[w].fits();
  }
  const auto using_local = std::ranges::count_if(cta_.local_reuse, &LocalReuse::accessed);
  local_reuses_.warps = std::max(local_reuses_.warps, static_cast<uint32_t>(using_local));
  if (whole) traces_.push_back(std::move(trace));
}

// Runs the warp a little longer and records which blocks it visits, to find where it loops.
void CtaRunner::observe_loop(uint32_t warp_index, uint64_t steps) {
  loop_warp_ = warp_index;
  before_loop_ = block_counts_;
  const uint64_t until = warp(warp_index).steps + steps;  // in a cooperative launch, a poll ends a turn
  while (warp(warp_index).steps < until && run_warp(warp(warp_index), *launch_, cta_.ops, steps) == WarpEnd::slice) {
  }
  fault_warp_ = warp_index;
}

}  // namespace attnscope::emulator
