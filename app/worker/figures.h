#pragma once
#include <optional>
#include <vector>

#include "core/device_spec.h"
#include "core/kernel.h"
#include "core/observation.h"
#include "core/workload.h"
#include "device/launch.h"
#include "device/listing.h"
#include "worker/explain_run.h"
#include "worker/kept_code.h"
#include "worker/planned.h"

namespace attnscope::worker {

// What the figures of a run are made from, as its stages planned it.
struct PlannedRun {
  const Kernel& kernel;
  const Problem& problem;
  const DeviceSpec& spec;
  const std::vector<PlannedLaunch>& launches;  // one, or those of a program
  const std::optional<Workload>& workload;     // of a problem that is not attention
};

// What an emulated launch did, and its modelled time.
struct SimulatedLaunch {
  const Counters* counters;  // of the outcome
  const device::EmulatedDetail* emulated;
  Simulated simulated;
};

// The modelled time of each launch. The result refers to `emulated`, an emulated run's outcome.
std::vector<SimulatedLaunch> simulate(const PlannedRun& run, const device::LaunchOutcome& emulated);

// The time of the run's only launch with its terms.
Timing with_terms(const PlannedRun& run, const SimulatedLaunch& made);

// Gives the steps of a program (steps_of) their counters and modelled times.
void add_figures(const PlannedRun& run, const std::vector<SimulatedLaunch>& made, std::vector<LaunchFigures>& steps);

// What the rules find. `seen` is the observation so far.
std::vector<Finding> findings_of(const PlannedRun& run, const std::vector<SimulatedLaunch>& made,
                                 const Observation& seen);

// What each launch did, for listings of its code.
std::vector<device::CodeRun> code_runs(const PlannedRun& run, const std::vector<SimulatedLaunch>& made);
// What the model was given for each, for timelines.
KeptCode::Modelled modelled_launches(const PlannedRun& run, const std::vector<SimulatedLaunch>& made);

}  // namespace attnscope::worker
