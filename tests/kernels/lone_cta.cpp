#include "lone_cta.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "model/machine.h"
#include "model/misses.h"
#include "model/simulated_warp.h"

namespace attnscope::kernel_tests {
namespace {

using model::ScheduledInstruction, model::Unit, model::Visit;

// A warp's path with its loops unrolled.
std::vector<Visit> path_of(const model::CtaTrace& trace, size_t warp) {
  const std::vector<Visit>& stored = trace.warps[warp];
  std::vector<Visit> path;
  const auto append = [&](size_t from, size_t to) {
    path.insert(path.end(), stored.data() + from, stored.data() + to);
  };
  size_t at = 0;
  for (const Folded::Loop& loop : trace.loops_of(warp)) {
    append(at, loop.first);
    at = loop.first + loop.length;
    for (int64_t run = 0; run < loop.times; ++run) append(loop.first, at);
  }
  append(at, stored.size());
  return path;
}

class LoneWarp {
 public:
  LoneWarp(const model::KernelSchedule& schedule, const model::Machine& machine, std::vector<Visit> path)
      : schedule_(schedule), machine_(machine), path_(std::move(path)) {}

  // Goes on to the next barrier and returns when it arrives there, or when it has ended.
  double run() {
    for (; at_ < path_.size(); ++at_, next_ = 0) {
      const model::CodeBlock& block = schedule_.blocks[path_[at_].block];
      if (next_ == 0 && at_ > 0 && block.first != behind_) now_ += machine_.branch;
      behind_ = block.first + block.count;
      while (next_ < block.count) {
        const ScheduledInstruction& one = schedule_.code[block.first + next_++];
        issue(one);
        if (one.unit == Unit::barrier) return arrived_;
      }
    }
    ended_ = true;
    for (const double result : scoreboards_) wait_until(result);
    return now_;
  }
  void wait_until(double clock) { now_ = std::max(now_, clock); }
  bool ended() const { return ended_; }

 private:
  void issue(const ScheduledInstruction& one) {
    for (size_t scoreboard = 0; scoreboard < scoreboards_.size(); ++scoreboard)
      if ((one.wait_mask >> scoreboard & 1) != 0) wait_until(scoreboards_[scoreboard]);
    for (; one.copies_pending >= 0 && groups_.size() > size_t(one.copies_pending); groups_.pop_front())
      wait_until(groups_.front());
    double passed = now_;
    if (model::is_shared(one.unit) || model::is_global(one.unit)) {
      wait_until(port_ - model::kQueueClocks);
      const double passes = std::max(1.0, double(one.passes) * path_[at_].lanes / double(one.lanes));
      port_ = std::max(now_, port_) + passes * machine_.warp_wavefront;
      passed = port_ - machine_.warp_wavefront;
    }
    const double done = passed + latency_of(one);
    if (one.unit == Unit::async_copy) copies_ = std::max(copies_, done);
    if (one.closes_copies) groups_.push_back(copies_);
    const auto hold = [&](uint8_t scoreboard, double until) {
      if (scoreboard < scoreboards_.size()) scoreboards_[scoreboard] = std::max(scoreboards_[scoreboard], until);
    };
    hold(one.write_scoreboard, done);
    hold(one.read_scoreboard, passed);
    arrived_ = now_;
    now_ += std::max<double>(1, one.stall);
  }

  // Of a load that may find its data in the first level: as if it did.
  double latency_of(const ScheduledInstruction& one) const {
    if (model::is_shared(one.unit)) return machine_.shared;
    if (one.unit == Unit::async_copy) return machine_.shared + (model::may_hit_l1(one) ? machine_.l1 : machine_.l2);
    if (model::is_global(one.unit)) return machine_.l1;
    if (one.unit == Unit::shuffle) return machine_.shuffle;
    if (one.unit == Unit::constant_load) return machine_.constant;
    return machine_.mufu;
  }

  const model::KernelSchedule& schedule_;
  const model::Machine& machine_;
  std::vector<Visit> path_;
  size_t at_ = 0;
  uint32_t next_ = 0, behind_ = 0;  // the next instruction of the block; the end of the last block
  double now_ = 0, arrived_ = 0;
  double port_ = 0;    // when its last wavefront has passed
  double copies_ = 0;  // when its last asynchronous copy arrives
  std::deque<double> groups_;
  std::array<double, model::kScoreboards> scoreboards_{};
  bool ended_ = false;
};

double lone_clocks(const model::KernelSchedule& schedule, const model::CtaTrace& trace, const model::Machine& machine) {
  std::vector<LoneWarp> warps;
  for (size_t warp = 0; warp < trace.warps.size(); ++warp) warps.emplace_back(schedule, machine, path_of(trace, warp));
  double last = 0;
  for (size_t alive = warps.size(); alive > 0;) {
    double arrival = 0;
    alive = 0;
    for (LoneWarp& warp : warps) {
      if (warp.ended()) continue;
      const double at = warp.run();
      last = std::max(last, at);
      if (!warp.ended()) arrival = std::max(arrival, at), ++alive;
    }
    for (LoneWarp& warp : warps)
      if (!warp.ended()) warp.wait_until(arrival + machine.barrier);
  }
  return last;
}

}  // namespace

std::vector<double> lone_cta_clocks(const Counted& of, const DeviceSpec& spec) {
  const model::Machine machine(spec);
  std::vector<double> clocks;
  for (const model::CtaTrace& trace : of.schedule.traces) clocks.push_back(lone_clocks(of.schedule, trace, machine));
  return clocks;
}

}  // namespace attnscope::kernel_tests
