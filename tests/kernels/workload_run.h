#pragma once
#include <map>
#include <memory>
#include <string>

#include "catalog/launch.h"
#include "compile/compiler.h"
#include "core/config.h"
#include "core/kernel.h"
#include "core/workload.h"
#include "device/device.h"

namespace attnscope::kernel_tests {

DeviceSpec emulated_spec(int arch);

// A kernel that is not attention, compiled for one config.
struct Compiled {
  Kernel kernel;
  Problem problem;
  Config config;
  std::shared_ptr<const compile::Variant> variant;
  catalog::Launch launch;  // with the constants of the source
};
Result<Compiled> compile_workload(const Kernel& kernel, const std::map<std::string, int64_t>& sizes,
                                  const std::map<std::string, int64_t>& knobs, int arch);

struct WorkloadRun {
  Workload workload;
  std::shared_ptr<const check::Operands> operands;  // as they were before
  device::LaunchOutcome outcome;
};
Result<WorkloadRun> emulate(const Compiled& compiled, int arch);

}  // namespace attnscope::kernel_tests
