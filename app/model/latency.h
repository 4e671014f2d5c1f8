#pragma once
#include <vector>

#include "core/device_spec.h"
#include "core/observation.h"
#include "core/problem.h"
#include "model/occupancy.h"
#include "model/schedule.h"
#include "model/sm_simulation.h"
#include "model/stall.h"

namespace attnscope::model {

struct LatencyInput {
  const DeviceSpec& spec;
  const Problem& problem;
  const VariantInfo& variant;
  const LaunchShape& launch;
  const Occupancy& occupancy;
  const Counters& counters;                  // of the emulated CTAs, any share of the grid
  const KernelSchedule* schedule = nullptr;  // null: uses only the counters, with a much wider error bar
};

struct Modelled {
  Timing timing;
  // Where the time goes, in microseconds (model/attribution.h); they sum to timing.p50. Empty without a schedule:
  // counters show how busy units are, not what warps wait for.
  std::vector<Stall> stalls;
};

// The kernel's time on the device with hot caches, always of kind "modelled": p10 = p50 = p90, and
// interval_low…interval_high is the model's error bar, derived in docs/model.md. `bound` says what limits the kernel:
// "shared memory", "issue slots", "FP32", "L2 bandwidth", "DRAM bandwidth", "global memory latency", "instruction
// latency"… A pure function of its input. All zeros if nothing fits the device or nothing was counted.
Modelled latency(const LatencyInput& input);

// The clock that the kernel runs at. A GPU may run slower while its Tensor Cores multiply.
double clock_mhz(const LatencyInput& input);

// What an SM's CTAs ask of the second level, which decides their share of what all SMs share.
struct AskedOfL2 {
  double sectors = 0;
  double turns = 0;  // of atomics (ScheduledInstruction::turns)

  AskedOfL2& operator+=(const AskedOfL2& other) {
    sectors += other.sectors;
    turns += other.turns;
    return *this;
  }
};
inline AskedOfL2 operator*(double times, const AskedOfL2& asked) {
  return {asked.sectors * times, asked.turns * times};
}
// Of each trace.
std::vector<AskedOfL2> asked_of_l2(const KernelSchedule& schedule);

// The load of one SM with these CTAs, as latency() simulates it. The input must have a schedule.
SmLoad sm_load(const LatencyInput& input, SmCtas ctas, AskedOfL2 asked);

// A memset or a copy that reads and writes `bytes` in total: a launch's cost, and the time that the second-level cache
// (or memory, if the cache is too small) takes for them. Kind, interval and terms as in latency().
Timing transfer(const DeviceSpec& spec, double bytes);

}  // namespace attnscope::model
