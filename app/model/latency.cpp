#include "model/latency.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "model/bars.h"
#include "model/ceilings.h"
#include "model/dispatch.h"
#include "model/machine.h"
#include "model/misses.h"
#include "model/rates.h"
#include "model/simulated_warp.h"

namespace attnscope::model {
namespace {

constexpr double kWarpsToFill = 16;  // resident warps of an SM that hide most latencies, used without a schedule

struct Estimate {
  double clocks = 0;
  std::vector<Stall> stalls;     // in clocks; empty if from counters
  Bound bound = Bound::unknown;  // set if from counters; otherwise the stalls give it
};

// Stalls of a time that is `factor` times as long.
std::vector<Stall> longer(std::vector<Stall> stalls, double factor) {
  for (Stall& stall : stalls) stall.time *= factor;
  return stalls;
}

double clock_mhz(const DeviceSpec& spec) {
  return spec.sustained_clock_mhz > 0 ? spec.sustained_clock_mhz : spec.clock_mhz;
}

// The bound that a term's time indicates; unknown if the kernel's code does not cause it.
Bound bound_of(TermKind term) {
  switch (term) {
    case TermKind::issue:
    case TermKind::register_banks:
      return Bound::issue_slots;
    case TermKind::tensor_cores:
      return Bound::tensor_cores;
    case TermKind::integer:
      return Bound::integer;
    case TermKind::integer_multiply:
      return Bound::integer_multiply;
    case TermKind::fp32:
      return Bound::fp32;
    case TermKind::fp16:
      return Bound::fp16;
    case TermKind::fp64:
      return Bound::fp64;
    case TermKind::half_conversions:
      return Bound::half_conversions;
    case TermKind::conversions:
      return Bound::conversions;
    case TermKind::mufu:
      return Bound::mufu;
    case TermKind::uniform:
      return Bound::arithmetic_units;
    case TermKind::shuffles:
      return Bound::shuffles;
    case TermKind::shared_wavefronts:
    case TermKind::bank_conflicts:
    case TermKind::shared_latency:
      return Bound::shared_memory;
    case TermKind::l1_lines:
      return Bound::l1_lines;
    case TermKind::l2_bandwidth:
      return Bound::l2_bandwidth;
    case TermKind::dram_bandwidth:
      return Bound::dram_bandwidth;
    case TermKind::atomics:
      return Bound::atomics;
    case TermKind::instruction_latency:
    case TermKind::tensor_latency:
    case TermKind::jumps:
    case TermKind::instruction_fetch:
      return Bound::instruction_latency;
    case TermKind::mufu_latency:
    case TermKind::shuffle_latency:
    case TermKind::constant_latency:
      return Bound::short_latency;
    case TermKind::global_latency:
    case TermKind::local_latency:
      return Bound::global_latency;
    case TermKind::barriers:
      return Bound::barriers;
    case TermKind::launch:
    case TermKind::tail:
    case TermKind::other:
      break;
  }
  return Bound::unknown;
}

// The bound that most of the time indicates.
Bound bound_of(const std::vector<Stall>& stalls) {
  std::map<Bound, double> sums;
  for (const Stall& stall : stalls) sums[bound_of(stall.term)] += stall.time;
  sums.erase(Bound::unknown);
  const auto longest = std::ranges::max_element(sums, {}, &std::pair<const Bound, double>::second);
  return longest == sums.end() ? Bound::unknown : longest->first;
}

// Clocks in which the device's memory delivers the compulsory bytes that the second level does not hold.
double dram_clocks(const LatencyInput& in) {
  return ceilings(in.spec, in.problem, in.counters, *in.schedule).dram * clock_mhz(in);
}

// The CTAs of the SM that gets the most of a grid of equal ones. A free place gets the next CTA, and where the CTAs of
// an SM end closer together than the SMs do, those that are first fill several places before others have a free one.
// Of the last CTAs, left / SMs for each in the mean, the first SM then gets 4 * sqrt(left / SMs / warps of a CTA), up
// to its places: what it has free grows with time, and so does the number of SMs that have something free. The 4 orders
// an H200's and an H100's configs best (bench/results/last_ctas.txt); wider CTAs and fuller SMs do not end together,
// and share the last CTAs evenly (bench/results/last_wave_h200.txt).
int64_t most_ctas_of_an_sm(const LatencyInput& in) {
  constexpr int64_t kWarpsOfACta = 4, kWarpsOfAnSm = 16, kWaves = 3;  // whole waves, after which SMs are far apart
  constexpr double kOfTheFirstSm = 4;
  const int64_t total = in.occupancy.total_ctas, even = (total + in.spec.sms - 1) / in.spec.sms;
  const int64_t places = std::min(in.occupancy.ctas_per_sm, even), waves = total / (places * in.spec.sms);
  const int64_t warps = in.launch.warps();
  if (waves == 0 || waves > kWaves || warps > kWarpsOfACta || warps * places > kWarpsOfAnSm) return even;
  const double left = double(total) / double(in.spec.sms) - double(waves * places);
  const int64_t first = std::lround(kOfTheFirstSm * std::sqrt(left / double(warps)));
  return std::max(even, waves * places + std::min(places, first));
}

// By how much an SM takes longer than the clocks in which full places would do its instructions, because towards the
// end places are empty and no CTA does more than `most` instructions a clock. CTAs share the SM's rate evenly.
double drained(const SmCtas& ctas, size_t places, const std::vector<double>& work_of, double full_clocks, double most) {
  double all = 0;
  for (const uint32_t trace : ctas) all += work_of[trace];
  const double rate = all / full_clocks;
  double clocks = 0;
  std::vector<double> left;
  for (size_t next = 0; next < ctas.size() || !left.empty();) {
    while (left.size() < places && next < ctas.size()) left.push_back(work_of[ctas[next++]]);
    const double step = *std::ranges::min_element(left);
    clocks += step / std::min(most, rate / double(left.size()));
    for (double& one : left) one -= step;
    std::erase_if(left, [](double one) { return one <= 0; });
  }
  return std::max(1.0, clocks * rate / all);
}

// Runs the CTAs of an SM. Where too few of them end within the simulation's limit, the rate of their instructions is
// that of full places, and the last CTAs, which leave places empty, get on no faster than one does by itself.
SmRun run_sm(const LatencyInput& in, const SmCtas& ctas, AskedOfL2 asked) {
  SmRun run = simulate_sm(in.spec, *in.schedule, sm_load(in, ctas, asked));
  if (!run.by_rate) return run;
  const std::vector<double> work_of = instructions_of(*in.schedule);
  const uint32_t longest = *std::ranges::max_element(ctas, {}, [&](uint32_t trace) { return work_of[trace]; });
  const SmRun single = simulate_sm(in.spec, *in.schedule, sm_load(in, {longest}, asked));
  const double by = drained(ctas, static_cast<size_t>(in.occupancy.ctas_per_sm), work_of, run.clocks,
                            work_of[longest] / single.clocks);
  run.clocks *= by;
  run.stalls = longer(std::move(run.stalls), by);
  return run;
}

// If all CTAs are equal, the SM with the most of them decides.
Estimate of_equal(const LatencyInput& in) {
  const int64_t busiest = most_ctas_of_an_sm(in);
  const AskedOfL2 asked = double(busiest) * asked_of_l2(*in.schedule).front();
  SmRun run = run_sm(in, SmCtas(static_cast<size_t>(busiest)), asked);
  return {run.clocks, std::move(run.stalls)};
}

// With a mask CTAs differ and there are no waves: short CTAs start and end beside a long one, so the time that one more
// CTA adds to an SM says nothing about the rest. All CTAs of the SM are simulated.
Estimate of_mixed(const LatencyInput& in) {
  const Dispatched dispatched =
      dispatch(*in.schedule, in.launch, first_places(in.spec, in.occupancy.ctas_per_sm, in.launch.ctas()));
  // One wave ends with its longest CTA, which is traced; several waves end with the last of the work.
  const bool waves = in.occupancy.total_ctas > in.spec.sms * in.occupancy.ctas_per_sm;
  double beyond = waves ? double(in.occupancy.total_ctas) / dispatched.ctas : 1;
  const std::vector<AskedOfL2> of_trace = asked_of_l2(*in.schedule);
  Estimate slowest;
  for (const DispatchedSm& sm : dispatched.sms) {
    const double times = sm.scale * std::exchange(beyond, 1);
    AskedOfL2 asked;
    for (const uint32_t trace : sm.ctas) asked += of_trace[trace];
    SmRun run = run_sm(in, sm.ctas, times * asked);
    if (run.clocks * times > slowest.clocks) slowest = {run.clocks * times, longer(run.stalls, times)};
  }
  return slowest;
}

// Without a trace: the busiest of issue slots, units, shared memory and L2 for an SM's CTAs, stretched if too few warps
// are resident to hide latency; or memory, which serves all SMs.
Estimate from_counters(const LatencyInput& in) {
  if (in.counters.emulated_ctas <= 0) return {};
  const int64_t busiest = (in.occupancy.total_ctas + in.spec.sms - 1) / in.spec.sms;
  const double ctas = double(busiest) / double(in.counters.emulated_ctas);  // of an SM, in units of the counted ones
  const double sectors = double(in.counters.global_load_sectors + in.counters.global_store_sectors);
  // The time of the whole device, of which the emulated CTAs are a share, in clocks of an SM.
  const Ceilings units = in.schedule ? ceilings(in.spec, in.problem, in.counters, *in.schedule) : Ceilings{};
  const double share = double(in.counters.emulated_ctas) / double(std::max<int64_t>(1, in.counters.total_ctas)) *
                       double(in.spec.sms) * in.spec.clock_mhz;
  const std::pair<double, Bound> demands[] = {
      {double(all_instructions(in.counters)) / rates::rate(in.spec, rates::kIssue), Bound::issue_slots},
      {units.tensor * share, Bound::tensor_cores},
      {units.fp32 * share, Bound::fp32},
      {units.mufu * share, Bound::mufu},
      {double(in.counters.shared_wavefronts) / rates::rate(in.spec, rates::kSharedWavefronts), Bound::shared_memory},
      {sectors / rates::rate(in.spec, rates::kL2Sectors), Bound::l2_bandwidth},
      {units.atomics * share, Bound::atomics}};
  const auto* most = std::max_element(std::begin(demands), std::end(demands),
                                      [](const auto& a, const auto& b) { return a.first < b.first; });
  const int64_t resident = std::min(in.occupancy.ctas_per_sm, busiest) * in.launch.warps();
  const double hidden = std::min(1.0, double(resident) / kWarpsToFill);
  const double clocks = most->first * ctas / hidden, memory = units.dram * clock_mhz(in);
  return memory > clocks ? Estimate{memory, {}, Bound::dram_bandwidth} : Estimate{clocks, {}, most->second};
}

// Atomics that meet are made one after the other, also those of CTAs that were not traced.
void wait_for_atomics(const LatencyInput& in, Estimate& estimate) {
  const HotSpots& hottest = in.schedule->hottest;
  const double left = atomics_clocks(in.spec, hottest) - estimate.clocks;
  if (left <= 0) return;
  estimate.stalls.push_back({TermKind::atomics, hottest.instruction, hottest.instruction, left});
  estimate.clocks += left;
}

// By instruction, for that many resident CTAs, which share the first level's lines. Loops read spilled registers again
// and again, so a stack with some counts by its size. What of a thread's arrays is in use at a time follows from how
// far apart a warp's accesses to a line are.
std::vector<double> local_misses(const LatencyInput& in, int64_t resident, double lines) {
  if (in.variant.spill_bytes > 0) {
    const double stack = double(resident * in.launch.warps() * 32 * in.variant.stack_bytes) / kL1LineBytes;
    return std::vector<double>(in.schedule->code.size(), stack > lines ? 1 - lines / stack : 0);
  }
  const int64_t warps = resident * in.schedule->local_reuse.warps;
  return warps > 0 ? local_misses(*in.schedule, lines / double(warps)) : std::vector<double>{};
}

}  // namespace

double clock_mhz(const LatencyInput& in) {
  const double clock = clock_mhz(in.spec);
  const auto multiplies = [](const ScheduledInstruction& one) {
    return one.unit == Unit::tensor && !one.fp64 && one.issued > 0;
  };
  const bool tensor = in.schedule != nullptr && std::ranges::any_of(in.schedule->code, multiplies);
  return tensor ? std::min(clock, rates::tensor_clock_mhz(in.spec)) : clock;
}

std::vector<AskedOfL2> asked_of_l2(const KernelSchedule& schedule) {
  const std::vector<double> sectors = l2_sectors_of(schedule), turns = turns_of(schedule);
  std::vector<AskedOfL2> asked;
  for (size_t trace = 0; trace < sectors.size(); ++trace) asked.push_back({sectors[trace], turns[trace]});
  return asked;
}

// Memory serves the SMs in proportion to their requests, and where atomics meet in proportion to their turns.
SmLoad sm_load(const LatencyInput& in, SmCtas ctas, AskedOfL2 asked) {
  SmLoad load{std::move(ctas), in.occupancy.ctas_per_sm};
  load.dram_sector = asked.sectors > 0 ? dram_clocks(in) / asked.sectors : 0;
  load.atomic_turn = asked.turns > 0 ? atomics_clocks(in.spec, in.schedule->hottest) / asked.turns : 0;
  load.readers = in.occupancy.total_ctas;
  const int64_t resident = std::min(load.resident, (in.occupancy.total_ctas + in.spec.sms - 1) / in.spec.sms);
  const int64_t shared = cta_allotment(in.spec, in.variant, in.launch).shared_bytes;
  load.local_misses = local_misses(in, resident, l1_lines(in.spec, double(resident * shared)));
  return load;
}

Modelled latency(const LatencyInput& in) {
  Modelled out;
  Timing& timing = out.timing;
  timing.kind = FigureKind::modelled;
  timing.cache = CacheState::hot;
  timing.clock_mhz = clock_mhz(in);
  const bool traced = in.schedule && !in.schedule->traces.empty() && !in.schedule->traces.front().warps.empty();
  if (in.occupancy.ctas_per_sm <= 0 || in.occupancy.total_ctas <= 0 || timing.clock_mhz <= 0) return out;
  Estimate estimate = !traced ? from_counters(in) : in.schedule->traces.size() == 1 ? of_equal(in) : of_mixed(in);
  if (estimate.clocks <= 0) return out;
  if (traced) wait_for_atomics(in, estimate);
  const double launch = rates::rate(in.spec, rates::kLaunchUs);
  const double us = estimate.clocks / timing.clock_mhz + launch;
  if (traced) {
    out.stalls = longer(std::move(estimate.stalls), 1 / timing.clock_mhz);
    out.stalls.push_back({TermKind::launch, Stall::kNone, Stall::kNone, launch});
    estimate.bound = bound_of(out.stalls);
  }
  const Bar bar = bar_of(estimate.bound, traced, in.spec.arch);
  timing.p10 = timing.p50 = timing.p90 = us;
  timing.interval_low = us * bar.low;
  timing.interval_high = us * bar.high;
  timing.bound = estimate.bound;
  return out;
}

Timing transfer(const DeviceSpec& spec, double bytes) {
  Timing timing;
  timing.kind = FigureKind::modelled;
  timing.clock_mhz = clock_mhz(spec);
  const double launch = rates::rate(spec, rates::kLaunchUs), memory = dram_us(spec, bytes);
  const double l2_gbs = roofs(spec).l2_gbs, cache = l2_gbs > 0 ? bytes / l2_gbs * 1e-3 : 0;
  const bool in_memory = memory > cache;
  const double us = launch + std::max(memory, cache);
  const Bound roof = in_memory ? Bound::dram_bandwidth : Bound::l2_bandwidth;
  timing.bound = us > 2 * launch ? roof : Bound::unknown;  // with few bytes it is mostly the launch
  const Bar bar = bar_of(roof, false, spec.arch);
  timing.p10 = timing.p50 = timing.p90 = us;
  timing.interval_low = us * bar.low;
  timing.interval_high = us * bar.high;
  Terms terms;
  terms.list = {{TermKind::launch, launch, {}}};
  if (us > launch)
    terms.list.push_back({in_memory ? TermKind::dram_bandwidth : TermKind::l2_bandwidth, us - launch, {}});
  std::ranges::stable_sort(terms.list, std::ranges::greater{}, &Term::us);
  Phase phase{"memsets and copies", us, {}};
  for (const Term& term : terms.list) phase.terms.push_back({term.kind, term.us});
  terms.phases = {phase};
  timing.terms = std::move(terms);
  return timing;
}

}  // namespace attnscope::model
