#include <algorithm>
#include <cmath>
#include <utility>

#include "model/misses.h"
#include "model/simulation.h"

namespace attnscope::model {

void Simulation::Work::add(const Work& other, double times) {
  instructions += static_cast<int64_t>(times) * other.instructions;
  shuffle += times * other.shuffle;
  data += times * other.data;
  l2 += times * other.l2;
  dram += times * other.dram;
  meeting += times * other.meeting;
}

Simulation::Work Simulation::work_of(const ScheduledInstruction& instruction) const {
  Work work{.instructions = 1};
  if (instruction.unit == Unit::shuffle) work.shuffle = machine_.shuffle_clocks;
  if (is_shared(instruction.unit) || is_global(instruction.unit))
    work.data = machine_.access_clocks(std::max(1.0, double(instruction.passes)));
  if (is_global(instruction.unit)) {
    work.meeting = double(instruction.turns) * load_.atomic_turn;
    const double sectors = double(instruction.sectors) * miss_share_of(instruction);
    work.l2 = l2_clocks(instruction, sectors);
    if (instruction.unit != Unit::local_load) work.dram = sectors * load_.dram_sector;
  }
  return work;
}

void Simulation::count_loops() {
  std::vector<Work> of_block;
  for (const CodeBlock& block : schedule_.blocks) {
    Work& sum = of_block.emplace_back();
    for (uint32_t i = block.first; i < block.first + block.count; ++i) sum.add(work_of(schedule_.code[i]), 1);
  }
  for (const CtaTrace& trace : schedule_.traces) {
    auto& warps = instructions_of_.emplace_back();
    auto& loops = loop_work_.emplace_back();
    Work& of_cta = work_of_.emplace_back();
    for (size_t w = 0; w < trace.warps.size(); ++w) {
      Work sum;
      trace.for_each_visit(w,
                           [&](const Visit& visit, int64_t times) { sum.add(of_block[visit.block], double(times)); });
      warps.push_back(sum.instructions);
      of_cta.add(sum, 1);
      auto& runs = loops.emplace_back();
      for (const Folded::Loop& loop : trace.loops_of(w)) {
        Work& run = runs.emplace_back();
        for (size_t at = loop.first; at < loop.first + loop.length; ++at)
          run.add(of_block[trace.warps[w][at].block], 1);
      }
    }
  }
}

void Simulation::begin(Window& window, double now, bool may_repeat) {
  Mark& mark = window.mark.emplace();
  mark.time = now + skipped_;
  mark.instructions = executed();
  mark.started = started_;
  for (const SimulatedWarp& warp : warps_) mark.warps.emplace_back(warp.loop, warp.issued);
  mark.queued = queued(now);
  if (may_repeat && attribution_) mark.sums = attribution_->sums(now);
  window.runs = 0;
  window.events = events_;
}

double Simulation::queued(double now) const {
  double sum = 0;
  const auto add = [&](double until) { sum += std::max(0.0, until - now); };
  for (const Queue* queue : {&shuffle_queue_, &data_queue_, &l2_queue_, &dram_queue_, &meeting_queue_})
    add(queue->until);
  for (const SimulatedWarp& warp : warps_)
    if (warp.alive) add(warp.port.until);
  return sum;
}

bool Simulation::is_steady(Window& window, double now, const Tolerance& tolerance) const {
  const int64_t instructions = executed() - window.mark->instructions;
  const double rate = (now + skipped_ - window.mark->time) / double(std::max<int64_t>(1, instructions));
  const double longer = std::abs(queued(now) - window.mark->queued);
  const bool steady = window.made > 0 && std::abs(rate - window.rate) <= tolerance.rates * window.rate &&
                      longer <= tolerance.whole * (now + skipped_ - window.mark->time);
  window.rate = rate;
  ++window.made;
  return steady;
}

void Simulation::pass_at_once(const Mark& mark, double now, int64_t times, const Work& work) {
  const double window = now + skipped_ - mark.time;
  const double share = double(work.instructions) / double(executed() - mark.instructions);
  const double clocks = double(times) * std::max(window * share, work.longest());
  if (attribution_) attribution_->repeat(*mark.sums, now, clocks);
  passed_ += times * work.instructions;
  skipped_ += clocks;
}

bool Simulation::only_one_is_left() const {
  return started_ == ctas_.size() && std::ranges::count_if(slots_, [](auto& cta) { return cta.alive > 0; }) == 1;
}

void Simulation::run_passed(size_t index, double now) {
  if (!load_.repeat) return;
  if (loops_.events != events_ || watched_ == kNoWarp) {
    loops_ = {};
    loops_.events = events_;
    watched_ = index;
  }
  if (watched_ != index || loops_.length > kLongestWindow) return;
  if (!loops_.mark) {
    const SimulatedWarp& warp = warps_[index];
    if ((*warp.loops)[warp.loop].times < kFewRuns && only_one_is_left()) loops_.length = 1;
    return begin(loops_, now, false);
  }
  if (++loops_.runs < loops_.length) return;
  if (is_steady(loops_, now, of_loops()) && loops_.mark->sums.has_value() == attribution_.has_value()) {
    const auto [aligned, times] = runs_left();
    if (aligned) {
      if (times > 0) repeat_runs(now, times);
      loops_.length = kLongestWindow + 1;  // until a warp ends, begins, or leaves its loop
      return;
    }
  }
  if (loops_.made % 3 == 0) loops_.length *= 2, loops_.made = 0;
  begin(loops_, now, loops_.made > 0);
}

std::pair<int64_t, bool> Simulation::runs_of(size_t index) const {
  const SimulatedWarp& warp = warps_[index];
  const auto [loop, issued] = loops_.mark->warps[index];
  const int64_t made = warp.issued - issued;
  // A warp that issues nothing may wait for a result, which would come later than it does if runs passed at once.
  if (!warp.alive || made == 0) return {0, !warp.alive || !is_exact()};
  if (warp.loop != loop || warp.loop >= warp.loops->size() ||
      (warp.at <= (*warp.loops)[warp.loop].first && warp.iteration == 0))
    return {0, false};
  const auto run = double(loop_work(index).instructions);
  const double runs = std::round(double(made) / run);
  return {static_cast<int64_t>(runs),
          runs >= 1 && std::abs(double(made) - runs * run) <= of_loops().whole * double(made)};
}

const Simulation::Work& Simulation::loop_work(size_t index) const {
  const SimulatedWarp& warp = warps_[index];
  return loop_work_[slots_[warp.cta].trace][warp.of_cta][warp.loop];
}

std::pair<bool, int64_t> Simulation::runs_left() const {
  int64_t most = INT64_MAX;
  const int64_t last = is_exact() ? 1 : 2;
  for (size_t i = 0; i < warps_.size(); ++i) {
    const auto [runs, whole] = runs_of(i);
    if (!whole) return {false, 0};
    if (runs == 0) continue;
    const SimulatedWarp& warp = warps_[i];
    most = std::min(most, ((*warp.loops)[warp.loop].times - last - warp.iteration) / runs);
  }
  return {true, most == INT64_MAX ? 0 : most};
}

void Simulation::repeat_runs(double now, int64_t times) {
  Work work;
  for (size_t i = 0; i < warps_.size(); ++i) {
    const int64_t runs = runs_of(i).first;
    if (runs == 0) continue;
    const int64_t of_window = runs * loop_work(i).instructions;
    work.add(loop_work(i), double(runs));
    skips_.emplace_back(i, runs * times, of_window * times);
  }
  for (const auto& [index, runs, of_warp] : std::exchange(skips_, {})) {
    warps_[index].iteration += runs;
    warps_[index].issued += of_warp;
  }
  of_started_ -= times * work.instructions;
  pass_at_once(*loops_.mark, now, times, work);
}

void Simulation::wave_passed(double now) {
  if (!load_.repeat || !equal_ || waves_.length == 0) return;
  if (!waves_.mark) {
    waves_.length = 1;
    return begin(waves_, now, true);
  }
  if (++waves_.runs < waves_.length) return;
  const auto ctas = static_cast<int64_t>(started_ - waves_.mark->started);
  // Places that end together take their next CTAs in any order; a window with one CTA more or less is not whole.
  const bool whole = ctas == waves_.length * static_cast<int64_t>(slots_.size());
  const bool steady = is_steady(waves_, now, kSteady) && whole;
  if (!steady && waves_.length < kLongestWave) {
    if (waves_.made == 2) waves_.length *= 2, waves_.made = 0;
    return begin(waves_, now, true);
  }
  waves_.length = 0;  // once is enough
  if (!whole) return;
  const auto left = static_cast<int64_t>(ctas_.size() - started_) - static_cast<int64_t>(slots_.size());
  if (left < ctas) return;
  Work work;
  work.add(work_of_[ctas_.front()], double(ctas));
  const double before = skipped_;
  pass_at_once(*waves_.mark, now, left / ctas, work);
  waves_skipped_ += skipped_ - before;
  started_ += static_cast<size_t>(left / ctas * ctas);
  ++events_;
}

}  // namespace attnscope::model
