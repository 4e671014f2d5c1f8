#pragma once
#include <cstdint>
#include <vector>

#include "core/device_spec.h"
#include "model/dispatch.h"
#include "model/schedule.h"
#include "model/stall.h"

namespace attnscope::model {

class WarpRecorder;

struct SmLoad {
  SmCtas ctas{0};                  // to run on this SM, one after another as places become free
  int64_t resident = 1;            // most CTAs at a time
  int64_t step_limit = 6'000'000;  // warp instructions to simulate; the rest is extrapolated
  // With that many the simulation ends too if enough CTAs have ended to tell how long the others take.
  int64_t enough_steps = 4'000'000;
  bool repeat = true;   // steady states are skipped instead of simulated
  bool split = true;    // fills SmRun::stalls
  int64_t readers = 0;  // SMs that have a CTA and share the second level; 0: all of the device
  // Clocks of the SM's share of the memory bandwidth for each sector that goes to the second level; 0: all of them are
  // cached there.
  double dram_sector = 0;
  // Clocks for each turn of the SM's atomics where most of the grid's meet; 0: there are none.
  double atomic_turn = 0;
  // By instruction, the share of the loads from local memory that the first level does not hold; empty: it holds all.
  std::vector<double> local_misses = {};
  WarpRecorder* recorder = nullptr;  // told what each warp does; without `repeat` it sees every clock
};

struct SmRun {
  // Until the last CTA has ended and every unit and queue is empty; extrapolated if the limit is reached first.
  double clocks = 0;
  double simulated = 0;       // simulated clocks
  int64_t steps = 0;          // warp instructions simulated
  int64_t instructions = 0;   // including those of skipped steady states
  bool complete = true;       // false: extrapolated
  bool by_rate = false;       // extrapolated by the rate of its instructions: too few CTAs had ended to tell more
  std::vector<Stall> stalls;  // where `clocks` go (model/attribution.h); they sum to it
};

// Runs the traces of `schedule` through one SM of the device, warp by warp and instruction by instruction: four
// schedulers that issue one instruction per clock in order, units held for 32 / rate clocks, stall counts and
// scoreboards from the code, shared memory at one wavefront per clock (one every other clock for a single warp),
// barriers that open when every warp of the CTA has arrived. docs/model.md has the rules, their sources and how far
// they are from a GPU.
SmRun simulate_sm(const DeviceSpec& spec, const KernelSchedule& schedule, const SmLoad& load);

}  // namespace attnscope::model
