#include "worker/barrier_run.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "device/terms.h"
#include "emulator/isa/program.h"
#include "explain/barriers.h"
#include "explain/rules.h"
#include "worker/watch_run.h"

namespace attnscope::worker {
namespace {

using emulator::Family;
using explain::BarrierPlace;

// __syncthreads(): barrier 0, for all threads.
bool is_whole_barrier(const emulator::Op& op) {
  return op.family == Family::bar_sync && (op.flags & emulator::op_all) != 0 && op.imm == 0 && op.second == 0 &&
         op.e == 0;
}

bool is_barrier(const emulator::Op& op) {
  return op.family == Family::bar_sync || op.family == Family::bar_reduce || op.family == Family::bar_arrive;
}

// True if a branch behind the instruction leads back before it.
bool loops(const emulator::Program& program, uint32_t instruction) {
  return std::any_of(program.ops.begin() + instruction, program.ops.end(), [&](const emulator::Op& op) {
    return op.family == Family::bra && op.imm <= instruction && op.index >= instruction;
  });
}

double waited_us(const device::CodeRun& run) {
  double us = 0;
  for (const model::Stall& stall : run.stalls)
    if (stall.term == TermKind::barriers) us += stall.time;
  return us;
}

const device::EmulatedDetail* detail_of(const device::LaunchOutcome& outcome) {
  if (outcome.emulated) return &*outcome.emulated;
  for (auto step = outcome.steps.rbegin(); step != outcome.steps.rend(); ++step)
    if (step->emulated) return &*step->emulated;
  return nullptr;
}

class Search {
 public:
  explicit Search(const BarrierRun& run)
      : run_(run), code_(run.counted.back()), ctas_(ctas_to_watch(run.launch.shape)) {}

  Result<std::vector<Finding>> all();

 private:
  using Opened = std::vector<uint32_t>;

  uint64_t work_of_sample() const;
  std::vector<BarrierPlace> places(const emulator::Program& program) const;
  Result<device::LaunchOutcome> attempt(const device::LaunchRequest& launch, device::Trial trial);
  // Whether the trial finds nothing and leaves the output of `base` as it is. Failure: cancelled.
  Result<bool> is_same(const device::LaunchRequest& launch, const device::LaunchOutcome& base, device::Trial trial);
  Result<bool> opens(const Opened& barriers, const Opened& for_lanes);
  Result<bool> holds_up();
  device::Trial opened() const;

  const BarrierRun& run_;
  const device::CodeRun& code_;
  std::vector<uint32_t> ctas_;
  device::LaunchOutcome base_;
  uint64_t work_ = 0, spent_ = 0;  // warp instructions: of one run of the sample, and of all runs so far
  int64_t runs_ = 0, most_runs_ = 1;
  device::Trial found_;  // with every barrier that can go
  bool other_inputs_ = false;
};

// Before anything runs, from the counts of the ordinary run.
uint64_t Search::work_of_sample() const {
  double work = 0;
  for (const device::CodeRun& one : run_.counted) {
    uint64_t issued = 0;
    for (const emulator::InstructionCounters& did : one.instructions) issued += did.issued;
    const double ctas = &one == &code_ ? double(ctas_.size()) : double(one.total_ctas);
    work += double(issued) / double(std::max<int64_t>(1, one.emulated_ctas)) * ctas;
  }
  return static_cast<uint64_t>(work);
}

std::vector<BarrierPlace> Search::places(const emulator::Program& program) const {
  struct Seen {
    BarrierPlace barrier;
    bool whole = true;
  };
  std::map<std::pair<std::string, int64_t>, Seen> lines;
  std::vector<double> us(program.ops.size());
  for (const model::Stall& stall : code_.stalls)
    if (stall.term == TermKind::barriers && stall.producer < us.size()) us[stall.producer] += stall.time;
  const double warps = double(run_.launch.shape.warps()) * double(std::max<int64_t>(1, code_.emulated_ctas));
  for (uint32_t i = 0; i < program.ops.size(); ++i) {
    if (!is_barrier(program.ops[i])) continue;
    const compile::SassLine line = device::own_line(*program.sass, i, run_.lines);
    if (line.line == 0 || line.file >= program.sass->files.size()) continue;
    const SourcePlace place{program.sass->files[line.file], line.line};
    auto& [barrier, whole] = lines[{place.file, place.line}];
    barrier.place = place;
    barrier.code.push_back(i);
    barrier.us += us[i];
    const double passes = double(code_.instructions[i].issued) / warps;
    barrier.passes += passes;
    barrier.loops = barrier.loops || passes > 1 || loops(program, i);  // a function may be called in a loop
    whole = whole && is_whole_barrier(program.ops[i]);
  }
  std::vector<BarrierPlace> all;
  for (auto& [place, seen] : lines)
    if (seen.whole) all.push_back(std::move(seen.barrier));
  return explain::worth_opening(std::move(all), model::sum_of(code_.stalls));
}

Result<device::LaunchOutcome> Search::attempt(const device::LaunchRequest& launch, device::Trial trial) {
  device::LaunchRequest one = launch;
  if (trial.ctas.empty()) trial.ctas = ctas_;
  // A warp that waits in a loop for another might wait forever without the barrier.
  trial.step_budget = 2 * work_ + 1000;
  spent_ += work_ * trial.ctas.size() / ctas_.size();
  one.trial = std::move(trial);
  device::LaunchEvents events;
  events.cancel = run_.cancel;
  events.on_progress = [&](int64_t, int64_t) { run_.on_progress(runs_, std::max(most_runs_, runs_ + 1)); };
  events.on_progress(0, 0);
  auto outcome = run_.emulated.run(one, events);
  ++runs_;
  return outcome;
}

Result<bool> Search::is_same(const device::LaunchRequest& launch, const device::LaunchOutcome& base,
                             device::Trial trial) {
  const bool of_sample = trial.ctas.empty();
  const auto outcome = attempt(launch, std::move(trial));
  if (!outcome) return outcome.error().stage == Stage::cancelled ? Result<bool>(fail(outcome.error())) : false;
  const device::EmulatedDetail* const did = detail_of(*outcome);
  if (did == nullptr || !did->result.findings.empty()) return false;
  if (!of_sample) return true;  // its output is only a part
  for (size_t i = 0; i < base.outputs.size(); ++i) {
    const auto was = base.outputs[i]->data(), is = outcome->outputs[i]->data();
    if (std::memcmp(was.data(), is.data(), was.size()) != 0) return false;
  }
  return true;
}

device::Trial Search::opened() const {
  device::Trial trial;
  trial.watch = true;
  trial.open_for_warps = found_.open_for_warps;
  trial.open_for_lanes = found_.open_for_lanes;
  return trial;
}

// A barrier that is needed mostly shows in the first CTA.
Result<bool> Search::opens(const Opened& for_warps, const Opened& for_lanes) {
  for (const bool first : {true, false}) {
    if (first && ctas_.size() == 1) continue;
    device::Trial trial = opened();
    trial.open_for_warps.insert(trial.open_for_warps.end(), for_warps.begin(), for_warps.end());
    trial.open_for_lanes.insert(trial.open_for_lanes.end(), for_lanes.begin(), for_lanes.end());
    if (first) trial.ctas = {ctas_.front()};
    auto same = is_same(run_.launch, base_, std::move(trial));
    if (!same || !*same) return same;
  }
  return true;
}

// Other orders of the warps, and other inputs.
Result<bool> Search::holds_up() {
  for (int64_t seed = 1; seed <= kBarrierOrders; ++seed) {
    device::Trial trial = opened();
    trial.watch = false;
    trial.order_seed = static_cast<uint64_t>(seed);
    trial.shared_fill = kLargeFill;
    auto same = is_same(run_.launch, base_, std::move(trial));
    if (!same || !*same) return same;
  }
  device::LaunchRequest other = run_.launch;
  const auto made = run_.other_inputs(other);
  if (!made) return fail(made.error());
  other_inputs_ = *made;
  if (!*made) return true;
  const auto base = attempt(other, {});
  if (!base) return base.error().stage == Stage::cancelled ? Result<bool>(fail(base.error())) : false;
  return is_same(other, *base, opened());
}

Result<std::vector<Finding>> Search::all() {
  std::vector<Finding> findings;
  // The barriers of grid.sync() are parts of it, on its line.
  if (run_.launch.shape.cooperative) return findings;
  const double us = model::sum_of(code_.stalls);
  if (waited_us(code_) < explain::kSilent * us || us <= 0) return findings;
  work_ = work_of_sample();
  if (work_ > kBarrierWork / 8) {
    ctas_ = {ctas_.front(), ctas_.back()};
    ctas_.erase(std::unique(ctas_.begin(), ctas_.end()), ctas_.end());
    work_ = work_of_sample();
  }
  constexpr uint64_t kAfter = 5;  // runs that a needless barrier takes after its own
  if ((kAfter + 3) * work_ > kBarrierWork) return findings;
  auto base = attempt(run_.launch, {});
  if (!base) return fail(base.error());
  base_ = std::move(*base);
  const device::EmulatedDetail* const did = detail_of(base_);
  if (did == nullptr) return findings;
  const std::vector<BarrierPlace> worth = places(*did->program);
  most_runs_ = 1 + 2 * static_cast<int64_t>(worth.size());
  std::vector<std::pair<const BarrierPlace*, bool>> needless;  // and whether lanes still wait there
  for (const BarrierPlace& one : worth) {
    if (spent_ + (kAfter + 2) * work_ > kBarrierWork) break;
    const auto of_warps = opens(one.code, {});
    if (!of_warps) return fail(of_warps.error());
    if (!*of_warps) continue;
    const auto of_lanes = opens({}, one.code);
    if (!of_lanes) return fail(of_lanes.error());
    Opened& into = *of_lanes ? found_.open_for_lanes : found_.open_for_warps;
    into.insert(into.end(), one.code.begin(), one.code.end());
    needless.emplace_back(&one, !*of_lanes);
  }
  if (needless.empty()) return findings;
  const auto held = holds_up();
  if (!held) return fail(held.error());
  if (!*held) return findings;
  for (const auto& [barrier, lanes_wait] : needless)
    findings.push_back(explain::needless_barrier(
        *barrier, us,
        {static_cast<int64_t>(ctas_.size()), run_.launch.shape.ctas(), kBarrierOrders, other_inputs_, lanes_wait}));
  return findings;
}

}  // namespace

Result<std::vector<Finding>> needless_barriers(const BarrierRun& run) {
  if (run.counted.empty()) return std::vector<Finding>();
  return Search(run).all();
}

}  // namespace attnscope::worker
