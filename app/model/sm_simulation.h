#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/device_spec.h"
#include "model/dispatch.h"
#include "model/schedule.h"
#include "model/stall.h"

namespace attnscope::model {

// What a warp waits for before it issues an instruction.
enum class Wait : uint8_t {
  dependency,  // stall counts in the code: fixed-latency results
  shared,      // data from shared memory, and its queue
  global,      // data from global or local memory
  other_data,  // MUFU, conversions, shuffles, constants
  unit,        // a busy arithmetic unit
  issue,       // the scheduler issued another warp
  barrier,
  count
};

struct SmLoad {
  SmCtas ctas{0};                  // to run on this SM, one after another as places become free
  int64_t resident = 1;            // at most at a time
  int64_t step_limit = 6'000'000;  // warp instructions to simulate; the rest is extrapolated
  bool split = true;               // into SmRun::stalls
};

struct SmRun {
  double clocks = 0;         // until the last CTA ends; extrapolated if the limit comes first
  double simulated = 0;      // simulated clocks; the figures below cover only these
  int64_t instructions = 0;  // warp instructions
  bool complete = true;      // false: extrapolated
  std::array<double, static_cast<size_t>(Wait::count)> waits{};  // clocks, summed over warps
  std::array<double, static_cast<size_t>(Unit::count)> busy{};   // clocks that each unit was busy, of one SM's worth
  double l2_busy = 0;                                            // clocks of the SM's share of second-level bandwidth
  std::vector<Stall> stalls;  // where `clocks` go (model/attribution.h); they sum to it
};

// Runs the traces of `schedule` through one SM of the device, warp by warp and instruction by instruction: four
// schedulers that issue one instruction a clock in order, units held for 32 / rate clocks, stall counts and scoreboards
// from the code, shared memory at one wavefront a clock (one every other clock for a single warp), barriers that open
// when every warp of the CTA has arrived. docs/model.md has the rules, their sources and how far they are from a GPU.
SmRun simulate_sm(const DeviceSpec& spec, const KernelSchedule& schedule, const SmLoad& load);

}  // namespace attnscope::model
