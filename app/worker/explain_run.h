#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "core/device_spec.h"
#include "core/kernel.h"
#include "core/observation.h"
#include "core/workload.h"
#include "device/launch.h"
#include "explain/facts.h"
#include "model/schedule.h"
#include "model/stall.h"

namespace attnscope::worker {

// An emulated run and its modelled time.
struct Simulated {
  std::shared_ptr<const model::KernelSchedule> schedule;
  Timing timing;
  std::vector<model::Stall> stalls;
};

// The input of the rules. `seen` is the observation so far; time and counters are those of the emulated run.
explain::Facts facts_of(const Kernel& kernel, const DeviceSpec& spec, const model::LaunchShape& shape, Observation seen,
                        const Counters& counters, const device::EmulatedDetail& did, const Simulated& simulated);

// Bytes that the grid must read at least once. `workload`: for a problem that is not attention.
double distinct_bytes(const Problem& problem, const std::optional<Workload>& workload);

}  // namespace attnscope::worker
