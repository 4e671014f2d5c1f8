#include "model/latency.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/ceilings.h"
#include "model/dispatch.h"
#include "model/rates.h"
#include "model/simulated_warp.h"
#include "model/sm_simulation.h"

namespace attnscope::model {
namespace {

// How far the model may be off, as a factor either way (docs/model.md, "How far off").
constexpr double kErrorSimulated = 1.25;
constexpr double kErrorIssueBound = 1.65;        // where warps compete for issue slots and units
constexpr double kErrorOtherArchitecture = 1.5;  // times either: some rates come from the measured architecture
constexpr double kErrorCounters = 5;
constexpr int kMeasuredArchitecture = 90;
// Waves of equal CTAs that are simulated; later ones run at the rate of the second.
constexpr int64_t kSimulatedWaves = 2;
constexpr double kBusy = 0.6;        // a unit this busy is the bound
constexpr double kWarpsToFill = 16;  // resident warps of an SM that hide most latencies, without a schedule

struct Estimate {
  double clocks = 0;
  Bound bound = Bound::unknown;
  std::vector<Stall> stalls;  // in clocks
};

// Stalls of a time that is `factor` times as long.
std::vector<Stall> longer(std::vector<Stall> stalls, double factor) {
  for (Stall& stall : stalls) stall.time *= factor;
  return stalls;
}

double clock_mhz(const DeviceSpec& spec) {
  return spec.sustained_clock_mhz > 0 ? spec.sustained_clock_mhz : spec.clock_mhz;
}

Bound bound_of(Unit unit) {
  switch (unit) {
    case Unit::fp32:
      return Bound::fp32;
    case Unit::fp16x2:
      return Bound::fp16;
    case Unit::half_to_float:
      return Bound::half_conversions;
    case Unit::fp64:
      return Bound::fp64;
    case Unit::integer:
      return Bound::integer;
    case Unit::imad:
      return Bound::integer_multiply;
    case Unit::mufu:
      return Bound::mufu;
    case Unit::conversion:
      return Bound::conversions;
    case Unit::tensor:
      return Bound::tensor_cores;
    case Unit::shuffle:
      return Bound::shuffles;
    case Unit::shared_load:
    case Unit::shared_store:
      return Bound::shared_memory;
    default:
      return Bound::unknown;
  }
}

Bound bound_of(Wait wait) {
  switch (wait) {
    case Wait::dependency:
      return Bound::instruction_latency;
    case Wait::shared:
      return Bound::shared_memory;
    case Wait::global:
      return Bound::global_latency;
    case Wait::other_data:
      return Bound::short_latency;
    case Wait::unit:
      return Bound::arithmetic_units;
    case Wait::issue:
      return Bound::issue_slots;
    case Wait::barrier:
      return Bound::barriers;
    case Wait::count:
      break;
  }
  return Bound::unknown;
}

// The busiest unit if it is busy most of the time, else what warps wait for most. A barrier is never the cause: warps
// at a barrier wait for what the other warps wait for.
Bound bound_of(const SmRun& run) {
  const double clocks = std::max(1.0, run.simulated);
  std::pair<double, Bound> busiest{double(run.instructions) / (4 * clocks), Bound::issue_slots};
  for (size_t unit = 0; unit < run.busy.size(); ++unit)
    if (run.busy[unit] / clocks > busiest.first && bound_of(static_cast<Unit>(unit)) != Bound::unknown)
      busiest = {run.busy[unit] / clocks, bound_of(static_cast<Unit>(unit))};
  const double shared =
      run.busy[static_cast<size_t>(Unit::shared_load)] + run.busy[static_cast<size_t>(Unit::shared_store)];
  if (shared / clocks > busiest.first) busiest = {shared / clocks, Bound::shared_memory};
  if (run.l2_busy / clocks > busiest.first) busiest = {run.l2_busy / clocks, Bound::l2_bandwidth};
  if (busiest.first >= kBusy) return busiest.second;
  size_t longest = 0;
  for (size_t wait = 0; wait < run.waits.size(); ++wait)
    if (static_cast<Wait>(wait) != Wait::barrier && run.waits[wait] > run.waits[longest]) longest = wait;
  return bound_of(static_cast<Wait>(longest));
}

// Later waves split as the simulated ones do, but for the tail: only the last wave has one.
void repeat_without_tail(std::vector<Stall>& stalls, double clocks) {
  double tail = 0;
  for (const Stall& stall : stalls)
    if (stall.term == TermKind::tail) tail += stall.time;
  const double rest = sum_of(stalls) - tail;
  for (Stall& stall : stalls)
    if (stall.term != TermKind::tail) stall.time *= (clocks - tail) / rest;
}

// When all CTAs are equal, the SM with the most of them decides. It runs them in waves; later waves are like the
// second.
Estimate of_waves(const LatencyInput& in) {
  const int64_t busiest = (in.occupancy.total_ctas + in.spec.sms - 1) / in.spec.sms;
  const int64_t simulated = std::min(busiest, kSimulatedWaves * in.occupancy.ctas_per_sm);
  const auto simulate = [&](int64_t ctas, bool split) {
    SmLoad load{SmCtas(static_cast<size_t>(ctas)), in.occupancy.ctas_per_sm};
    load.split = split;
    return simulate_sm(in.spec, *in.schedule, load);
  };
  SmRun run = simulate(simulated, true);
  double clocks = run.clocks;
  if (busiest > simulated) {
    const int64_t wave = in.occupancy.ctas_per_sm;
    clocks += (run.clocks - simulate(wave, false).clocks) / double(simulated - wave) * double(busiest - simulated);
    repeat_without_tail(run.stalls, clocks);
  }
  return {clocks, bound_of(run), std::move(run.stalls)};
}

// Counted instructions over what the traces predict for the same CTAs. About 1, unless the CTAs between the traced ones
// differ from them.
double counted_to_traced(const LatencyInput& in) {
  const auto total = in.counters.instructions.find("total");
  if (total == in.counters.instructions.end() || in.counters.emulated_ctas <= 0) return 1;
  const std::vector<double> instructions = instructions_of(*in.schedule);
  double row = 0;
  const std::vector<uint32_t> along_x = trace_along_x(*in.schedule, in.launch);
  for (const uint32_t trace : along_x) row += instructions[trace];
  const double mean = row / double(along_x.size());
  return mean > 0 ? double(total->second) / double(in.counters.emulated_ctas) / mean : 1;
}

// With a mask CTAs differ and there are no waves: short CTAs start and end beside a long one, so the time that one more
// CTA adds to an SM says nothing about the rest. All CTAs of the SM are simulated; the part beyond the simulation's
// limit runs at the rate of the instructions before it.
Estimate of_mixed(const LatencyInput& in) {
  const Dispatched dispatched = dispatch(*in.schedule, in.launch, in.spec.sms, in.occupancy.ctas_per_sm);
  // One wave ends with its longest CTA, which is traced; several waves end with the last of the work.
  const bool waves = in.occupancy.total_ctas > in.spec.sms * in.occupancy.ctas_per_sm;
  double beyond = waves ? double(in.occupancy.total_ctas) / dispatched.ctas * counted_to_traced(in) : 1;
  Estimate slowest;
  for (const SmCtas& ctas : dispatched.sms) {
    const SmRun run = simulate_sm(in.spec, *in.schedule, {ctas, in.occupancy.ctas_per_sm});
    const double times = std::exchange(beyond, 1), clocks = run.clocks * times;
    if (clocks > slowest.clocks) slowest = {clocks, bound_of(run), longer(run.stalls, times)};
  }
  return slowest;
}

int64_t count_of(const Counters& counters, const char* name) {
  const auto found = counters.instructions.find(name);
  return found == counters.instructions.end() ? 0 : found->second;
}

// Without a trace: the busiest of issue slots, units, shared memory and L2 for an SM's CTAs, stretched when too few
// warps are resident to hide latency.
Estimate from_counters(const LatencyInput& in) {
  if (in.counters.emulated_ctas <= 0) return {};
  const int64_t busiest = (in.occupancy.total_ctas + in.spec.sms - 1) / in.spec.sms;
  const double ctas = double(busiest) / double(in.counters.emulated_ctas);  // of an SM, in units of the counted ones
  const double sectors = double(in.counters.global_load_sectors + in.counters.global_store_sectors);
  // Time of the whole device, of which the emulated CTAs are a share, in clocks of an SM.
  const Ceilings units = in.schedule ? ceilings(in.spec, in.problem, in.counters, *in.schedule) : Ceilings{};
  const double share = double(in.counters.emulated_ctas) / double(std::max<int64_t>(1, in.counters.total_ctas)) *
                       double(in.spec.sms) * in.spec.clock_mhz;
  const std::pair<double, Bound> demands[] = {
      {double(count_of(in.counters, "total")) / rates::rate(in.spec, rates::kIssue), Bound::issue_slots},
      {units.tensor * share, bound_of(Unit::tensor)},
      {units.fp32 * share, bound_of(Unit::fp32)},
      {double(in.counters.shared_wavefronts) / rates::rate(in.spec, rates::kSharedWavefronts), Bound::shared_memory},
      {sectors / rates::rate(in.spec, rates::kL2Sectors), Bound::l2_bandwidth}};
  const auto* most = std::max_element(std::begin(demands), std::end(demands),
                                      [](const auto& a, const auto& b) { return a.first < b.first; });
  const int64_t resident = std::min(in.occupancy.ctas_per_sm, busiest) * in.launch.warps();
  const double hidden = std::min(1.0, double(resident) / kWarpsToFill);
  return {most->first * ctas / hidden, most->second, {}};
}

double error_factor(const DeviceSpec& spec, bool traced, Bound bound) {
  if (!traced) return kErrorCounters;
  const bool competing = bound == Bound::issue_slots || bound == Bound::arithmetic_units;
  const double factor = competing ? kErrorIssueBound : kErrorSimulated;
  return spec.arch == kMeasuredArchitecture ? factor : factor * kErrorOtherArchitecture;
}

// The excess over the simulated time belongs to the instructions that read and write global memory, by their sectors.
void add_dram(std::vector<Stall>& stalls, const KernelSchedule& schedule, double us) {
  double sectors = 0;
  const auto sectors_of = [](const ScheduledInstruction& one) {
    return is_global(one.unit) ? double(one.issued) * double(one.sectors) : 0;
  };
  for (const ScheduledInstruction& one : schedule.code) sectors += sectors_of(one);
  if (sectors <= 0) return stalls.push_back({TermKind::dram_bandwidth, Stall::kNone, Stall::kNone, us});
  for (uint32_t i = 0; i < schedule.code.size(); ++i)
    if (const double share = sectors_of(schedule.code[i]) / sectors; share > 0)
      stalls.push_back({TermKind::dram_bandwidth, i, i, us * share});
}

}  // namespace

Modelled latency(const LatencyInput& in) {
  Modelled out;
  Timing& timing = out.timing;
  timing.kind = FigureKind::modelled;
  timing.cache = CacheState::hot;
  timing.clock_mhz = clock_mhz(in.spec);
  const bool traced = in.schedule && !in.schedule->traces.empty() && !in.schedule->traces.front().warps.empty();
  if (in.occupancy.ctas_per_sm <= 0 || in.occupancy.total_ctas <= 0 || timing.clock_mhz <= 0) return out;
  Estimate estimate = !traced ? from_counters(in) : in.schedule->traces.size() == 1 ? of_waves(in) : of_mixed(in);
  if (estimate.clocks <= 0) return out;
  const double launch = rates::rate(in.spec, rates::kLaunchUs);
  double us = estimate.clocks / timing.clock_mhz + launch;
  if (traced) {
    out.stalls = longer(std::move(estimate.stalls), 1 / timing.clock_mhz);
    out.stalls.push_back({TermKind::launch, Stall::kNone, Stall::kNone, launch});
  }
  // What does not fit into the second-level cache is read from memory at least once.
  if (const double dram = compulsory_dram_us(in.spec, in.problem); dram > us) {
    if (traced) add_dram(out.stalls, *in.schedule, dram - us);
    us = dram;
    estimate.bound = Bound::dram_bandwidth;
  }
  const double factor = error_factor(in.spec, traced, estimate.bound);
  timing.p10 = timing.p50 = timing.p90 = us;
  timing.interval_low = us / factor;
  timing.interval_high = us * factor;
  timing.bound = estimate.bound;
  return out;
}

}  // namespace attnscope::model
