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

// The plan of a run, which its figures are computed from.
struct PlannedRun {
  const Kernel& kernel;
  const Problem& problem;
  const DeviceSpec& spec;
  const std::vector<PlannedLaunch>& launches;  // one launch, or those of a program
  const std::optional<Workload>& workload;     // for a problem that is not attention
};

// The counts of an emulated launch and its modelled time.
struct SimulatedLaunch {
  const Counters* counters;  // points into the outcome
  const device::EmulatedDetail* emulated;
  Simulated simulated;
};

// The modelled time of each launch. The result points into `emulated`, the outcome of an emulated run.
std::vector<SimulatedLaunch> simulate(const PlannedRun& run, const device::LaunchOutcome& emulated);

// The time of the run's only launch, with its terms.
Timing with_terms(const PlannedRun& run, const SimulatedLaunch& made);

// Adds counters and modelled times to the steps of a program (steps_of).
void add_figures(const PlannedRun& run, const std::vector<SimulatedLaunch>& made, std::vector<LaunchFigures>& steps);

// The findings of the rules. `seen` is the observation so far.
std::vector<Finding> findings_of(const PlannedRun& run, const std::vector<SimulatedLaunch>& made,
                                 const Observation& seen);

// Each launch's counts by instruction, for listings of its code.
std::vector<device::CodeRun> code_runs(const PlannedRun& run, const std::vector<SimulatedLaunch>& made);
// The model's input for each launch, for timelines.
KeptCode::Modelled modelled_launches(const PlannedRun& run, const std::vector<SimulatedLaunch>& made);

}  // namespace attnscope::worker
