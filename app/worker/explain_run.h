#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "compile/sass.h"
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

// Bytes of the inputs. `workload`: for a problem that is not attention.
double distinct_bytes(const Problem& problem, const std::optional<Workload>& workload);
// The same, only of those that the arguments of a kernel's launch name: others are not read.
double distinct_bytes(const Problem& problem, const std::optional<Workload>& workload,
                      const std::vector<ArgumentValue>& arguments);

// True if the kernel's instructions take the address of a __device__ variable. What is loaded of it is counted with
// what is loaded of the inputs.
bool uses_variables(const compile::SassProgram& program);

}  // namespace attnscope::worker
