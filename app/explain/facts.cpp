#include "explain/facts.h"

#include <algorithm>
#include <numeric>

#include "model/ceilings.h"
#include "model/rates.h"

namespace attnscope::explain {
namespace {

using model::Unit;
namespace rates = model::rates;

// A phase is done by few warps if they are less than this share of the CTA's.
constexpr double kFewWarps = 0.75;
constexpr double kShortPhase = 0.02;  // of the time; shorter phases are ignored
// Warps that do less than this share of a phase do next to nothing of it.
constexpr double kNextToNothing = 0.05;

struct Pipe {
  Unit unit;
  Bound bound;
  const rates::Rate* rate;  // lanes per SM and clock
};
constexpr Pipe kPipes[] = {{Unit::fp32, Bound::fp32, &rates::kFp32},
                           {Unit::fp16x2, Bound::fp16, &rates::kFp16x2},
                           {Unit::half_to_float, Bound::half_conversions, &rates::kHalfToFloat},
                           {Unit::fp64, Bound::fp64, &rates::kFp64},
                           {Unit::integer, Bound::integer, &rates::kInt},
                           {Unit::imad, Bound::integer_multiply, &rates::kImad},
                           {Unit::mufu, Bound::mufu, &rates::kMufu},
                           {Unit::conversion, Bound::conversions, &rates::kConversion},
                           {Unit::shuffle, Bound::shuffles, &rates::kShuffle}};

// How a phase's warp instructions are shared out: the busy warps stand above the widest gap.
LonePhase shared_unevenly(const std::vector<double>& issued) {
  LonePhase of;
  of.warps = issued.size();
  std::vector<double> sorted = issued;
  std::ranges::sort(sorted, std::greater<>());
  const double sum = std::accumulate(sorted.begin(), sorted.end(), 0.0), most = sorted.front();
  if (most <= 0) return of;
  of.working = sum / most;
  of.busiest = size_t(std::ranges::max_element(issued) - issued.begin());
  double widest = 0, above = 0, busy = 0;
  for (size_t i = 0; i + 1 < sorted.size(); ++i) {
    above += sorted[i];
    if (sorted[i] - sorted[i + 1] <= widest) continue;
    widest = sorted[i] - sorted[i + 1];
    of.busy = i + 1;
    busy = above;
  }
  if (of.busy == 0) return of;
  of.beyond = busy / sum - double(of.busy) / double(of.warps);
  const double rest = sum - busy;
  if (rest > kNextToNothing * sum) of.times = busy / double(of.busy) / (rest / double(of.warps - of.busy));
  return of;
}

}  // namespace

double time_us(const Facts& facts) { return facts.seen.timing ? facts.seen.timing->p50 : 0; }

double term_us(const Facts& facts, TermKind term) {
  return stalled_us(facts, [term](const model::Stall& stall) { return stall.term == term; });
}

double grid_scale(const Facts& facts) {
  const auto& counters = facts.seen.counters;
  return counters && counters->emulated_ctas > 0 ? double(counters->total_ctas) / double(counters->emulated_ctas) : 1;
}

std::map<std::string, double> us_by_phase(const Facts& facts) {
  std::map<std::string, double> us;
  for (const model::Stall& stall : facts.stalls)
    if (stall.producer != model::Stall::kNone) us[facts.code[stall.producer].phase] += stall.time;
  return us;
}

std::map<Bound, double> roofs(const Facts& facts, std::string_view phase) {
  std::map<Bound, double> us;
  const double mhz = facts.seen.timing ? facts.seen.timing->clock_mhz : 0;
  if (mhz <= 0 || facts.spec.sms <= 0) return us;
  // `clocks`: us for one clock of every SM.
  const double scale = grid_scale(facts), clocks = scale / double(facts.spec.sms) / mhz;
  double products = 0;
  for (const Instruction& one : facts.code) {
    if (!phase.empty() && one.phase != phase) continue;
    us[Bound::issue_slots] += one.issued / rates::rate(facts.spec, rates::kIssue) * clocks;
    us[Bound::shared_memory] +=
        (one.wavefronts + one.passes) / rates::rate(facts.spec, rates::kSharedWavefronts) * clocks;
    products += one.products;
    for (const Pipe& pipe : kPipes)
      if (pipe.unit == one.unit) us[pipe.bound] += one.issued * 32 / rates::rate(facts.spec, *pipe.rate) * clocks;
  }
  if (facts.spec.tensor_tflops_f16 > 0 && products > 0)
    us[Bound::tensor_cores] = scale * products * model::kProductFlop / facts.spec.tensor_tflops_f16 * 1e-6;
  if (phase.empty()) us[Bound::dram_bandwidth] = facts.dram_us, us[Bound::atomics] = facts.atomics_us;
  return us;
}

std::pair<Bound, double> highest_roof(const Facts& facts, std::string_view phase) {
  std::pair<Bound, double> highest{Bound::unknown, 0};
  for (const auto& [bound, us] : roofs(facts, phase))
    if (us > highest.second) highest = {bound, us};
  return highest;
}

std::vector<LonePhase> lone_phases(const Facts& facts) {
  std::vector<LonePhase> lone;
  const double barriers = term_us(facts, TermKind::barriers);
  if (barriers <= 0) return lone;
  std::map<std::string, double> own = us_by_phase(facts);
  for (const model::Stall& stall : facts.stalls)
    if (stall.term == TermKind::barriers && stall.producer != model::Stall::kNone)
      own[facts.code[stall.producer].phase] -= stall.time;
  double idle = 0;
  for (const auto& [phase, us] : own) {
    const auto found = facts.warps.find(phase);
    if (found == facts.warps.end() || found->second.size() < 2 || us < kShortPhase * time_us(facts)) continue;
    LonePhase one = shared_unevenly(found->second);
    const double warps = double(one.warps);
    if (one.busy == 0 || one.working >= kFewWarps * warps) continue;
    one.phase = phase;
    one.us = us;
    one.waited = us * (1 - one.working / warps);
    idle += one.waited;
    lone.push_back(std::move(one));
  }
  for (LonePhase& one : lone) {
    // The barriers' time is divided by the time in which warps have nothing to do. Nobody waits for longer than the
    // busy warps work on what is beyond an equal share. A phase's time is a mean over the schedulers.
    const double schedulers = std::min(double(one.warps), rates::rate(facts.spec, rates::kIssue));
    one.waited = std::min(one.waited * barriers / idle, one.us * one.beyond * schedulers);
  }
  std::ranges::sort(lone, std::greater<>(), [](const LonePhase& one) { return one.us + one.waited; });
  return lone;
}

double stretch(const Facts& facts, const std::string& phase) {
  for (const LonePhase& one : lone_phases(facts))
    if (one.phase == phase) return 1 + one.waited / one.us;
  return 1;
}

}  // namespace attnscope::explain
