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

namespace attnscope::worker {

// A launch of a run on its way through the stages: the only one, or one of a program.
struct PlannedLaunch {
  Kernel kernel;     // with this launch's entry, launch and arguments
  std::string name;  // for messages: the kernel with its config, and of a program which launch it is
  catalog::Launch launch;
  std::vector<ArgumentValue> arguments;  // over the workload's operands
  std::shared_ptr<const compile::Variant> variant;
  VariantInfo info;
  Occupancy occupancy;
};

// "launch 2, row_sum": of a program's launch.
std::string launch_words(const Kernel& launch);

// The steps of a program as an observation names them, without figures yet.
std::vector<LaunchFigures> steps_of(const Kernel& program);

// The steps of a program for a device: its launches are `launches`, loaded there as `loaded` says.
std::vector<device::LaunchStep> device_steps(const Kernel& program, const std::vector<PlannedLaunch>& launches,
                                             const std::vector<std::shared_ptr<const device::Loaded>>& loaded);

// What stands for a program where an observation has one launch's: the longest launch's variant, with a hash of the
// code of all, and its occupancy.
struct Headliner {
  std::optional<VariantInfo> variant;
  std::optional<Occupancy> occupancy;
};
Headliner headliner(const std::vector<LaunchFigures>& steps);

// The findings of each launch of a program as one list, most worth first: each says of which launch it is. What several
// launches have in common, such as a note on the source, stands once.
std::vector<Finding> merged(const std::vector<PlannedLaunch>& launches, std::vector<std::vector<Finding>> findings);

// The bytes of the buffers that a launch's arguments name: what it reads or writes at least once, if it uses them all.
double bytes_named(const Workload& workload, const std::vector<ArgumentValue>& arguments);

}  // namespace attnscope::worker
