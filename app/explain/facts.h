#pragma once
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/device_spec.h"
#include "core/kernel.h"
#include "core/observation.h"
#include "core/shared_access.h"
#include "model/occupancy.h"
#include "model/schedule.h"
#include "model/stall.h"

namespace attnscope::explain {

// One SASS instruction and its counts, summed over the CTAs that ran.
struct Instruction {
  std::string file{};   // "02_tiled.cu"; empty: unknown
  int line = 0;         // 0: unknown
  std::string phase{};  // as in Terms::phases
  model::Unit unit = model::Unit::control;
  bool atomic = false;      // of global memory
  double issued = 0;        // warp instructions
  double lanes = 0;         // active lanes
  double width = 0;         // bytes per lane, for a memory access
  double bytes = 0;         // requested by the lanes, for a memory access
  double requests = 0;      // with at least one lane on, for a memory access
  double wavefronts = 0;    // in shared memory
  double ideal = 0;         // wavefronts without bank conflicts
  double sectors = 0;       // of 32 bytes; global and local
  double lines = 0;         // of 128 bytes; global and local
  double passes = 0;        // clocks of the L1 data cache; global and local
  double turns = 0;         // atomics: of lanes at one word and of sectors, or in one bank of shared memory
  double products = 0;      // of Tensor Cores, model::kProductFlop each
  bool reciprocal = false;  // 1/x of a float, as a division of floats or of integers has one
};

// The input of the rules. For a refused run it holds only what was known before.
struct Facts {
  const Kernel& kernel;
  const DeviceSpec& spec;
  model::LaunchShape shape{};
  Observation seen{};                  // the observation so far
  std::vector<Instruction> code{};     // empty: nothing was emulated
  std::vector<model::Stall> stalls{};  // us; index `code`; empty: the model has none
  // Warp instructions of each warp of one CTA, by phase.
  std::map<std::string, std::vector<double>> warps{};
  // Recorded accesses to shared memory, by index in `code`; null: none.
  const std::map<uint32_t, SharedSteps>* shared = nullptr;
  double distinct_bytes = 0;  // that the grid must read at least once; 0: unknown
  model::HotSpots hottest{};  // where global memory gets the most atomics
  double atomics_us = 0;      // in which it makes them
  double dram_us = 0;  // in which the device's memory delivers what the second level does not hold; 0: it holds all
};

double time_us(const Facts& facts);  // 0: unknown
double term_us(const Facts& facts, TermKind term);
// The grid's CTAs divided by those that ran.
double grid_scale(const Facts& facts);
// The time of the stalls for which `wanted` returns true.
template <class Wanted>
double stalled_us(const Facts& facts, Wanted wanted) {
  double us = 0;
  for (const model::Stall& stall : facts.stalls)
    if (wanted(stall)) us += stall.time;
  return us;
}
// The time of the stalls that instructions carry, by the phase of that instruction.
std::map<std::string, double> us_by_phase(const Facts& facts);

// The least time, us, that the counted work takes on each unit of the whole device at its rates. An empty phase means
// all phases.
std::map<Bound, double> roofs(const Facts& facts, std::string_view phase = {});
std::pair<Bound, double> highest_roof(const Facts& facts, std::string_view phase = {});

// A phase of which some of a CTA's warps do clearly more than the others, which wait for them at barriers.
struct LonePhase {
  std::string phase{};
  double working = 0;  // number of warps, if all did as much as the busiest
  double us = 0;       // its own time, without waits at barriers
  double waited = 0;   // us that the other warps wait for it at barriers
  size_t warps = 0;    // of a CTA
  size_t busy = 0;     // warps that do more than the others
  size_t busiest = 0;  // the first of them
  double beyond = 0;   // share of the work that they do beyond an equal share
  double times = 0;    // as much work as each of the others does, on average; 0: the others do next to nothing
};
// Longest first. Empty if no warp waits at a barrier.
std::vector<LonePhase> lone_phases(const Facts& facts);

// The time of a phase including the waits of others for it, divided by its own time; 1 if every warp works.
double stretch(const Facts& facts, const std::string& phase);

}  // namespace attnscope::explain
