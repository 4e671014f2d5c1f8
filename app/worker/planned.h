#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catalog/launch.h"
#include "compile/compiler.h"
#include "core/kernel.h"
#include "core/observation.h"
#include "core/workload.h"
#include "device/launch.h"
#include "model/schedule.h"

namespace attnscope::worker {

// A launch that goes through the stages: the only one, or one of several in a program.
struct PlannedLaunch {
  Kernel kernel;     // with this launch's entry, launch and arguments
  std::string name;  // for messages: the kernel with its config, and for a program the launch
  catalog::Launch launch;
  std::vector<ArgumentValue> arguments;  // refer to the workload's operands
  std::shared_ptr<const compile::Variant> variant;
  VariantInfo info;
  Occupancy occupancy;
};

// "launch 2, row_sum", for a program's launch.
std::string launch_words(const Kernel& launch);

// The steps of a program as an observation lists them, without figures.
std::vector<LaunchFigures> steps_of(const Kernel& program);

// The steps of a program as a device takes them. `launches` are its launches and `loaded` their code on that device.
std::vector<device::LaunchStep> device_steps(const Kernel& program, const std::vector<PlannedLaunch>& launches,
                                             const std::vector<std::shared_ptr<const device::Loaded>>& loaded);

// Represents a program in fields that describe one launch: the longest launch's variant, with a hash over the code of
// all launches, and its occupancy.
struct Headliner {
  std::optional<VariantInfo> variant;
  std::optional<Occupancy> occupancy;
};
Headliner headliner(const std::vector<LaunchFigures>& steps);

// Merges the findings of a program's launches into one list, the most valuable first. Each names its launch. A finding
// that several launches share, such as one about the source, appears once.
std::vector<Finding> merged(const std::vector<PlannedLaunch>& launches, std::vector<std::vector<Finding>> findings);

// Of the buffers that a launch's arguments name. All of them together are the least that it moves if it uses all of
// them.
struct NamedBytes {
  double all = 0;
  model::BufferBytes by_use;
};
NamedBytes bytes_named(const Workload& workload, const std::vector<ArgumentValue>& arguments);

}  // namespace attnscope::worker
