#pragma once
#include <memory>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "check/verdict.h"
#include "compile/compiler.h"
#include "device/device.h"
#include "model/latency.h"

namespace attnscope::kernel_tests {

// A run in these tests, named as on the command line.
struct Case {
  std::string kernel;
  std::string problem;                // "B=1,H=2,S=333,D=64"
  std::vector<std::string> settings;  // KNOB=VALUE
  bool fast_math = true;
  int arch = 89;
  std::string folder = "kernels";  // of the source tree
  bool special = false;            // NaN, infinite and huge elements in Q and K (f16)
};
std::string text_of(const Case& named);

// Everything that the run returned.
struct Ran {
  Kernel kernel;
  Problem problem;
  std::shared_ptr<const compile::Variant> variant;
  device::LaunchOutcome outcome;
  Verdict verdict;
  std::vector<std::byte> output;
};

// Compiles, emulates and judges. Compiled code and references are kept for the process.
Result<Ran> run(const Case& named);
// Only compiles.
Result<std::shared_ptr<const compile::Variant>> compile(const Case& named);

// Whether this machine has the headers that the kernel declares, besides CUDA's.
bool have_headers(const std::string& kernel);

// Of assets/devices.
DeviceSpec device_spec(const std::string& id);
std::vector<DeviceSpec> device_specs();

// What the latency model needs of a run. `times` grids of it are one launch, as if the batch were that many times
// larger.
struct Counted {
  Problem problem;
  VariantInfo info;
  model::LaunchShape launch;
  Counters counters;
  model::KernelSchedule schedule;
};
Counted counted(const Ran& ran, const std::vector<std::string>& settings, int64_t times = 1);
model::Modelled modelled(const Counted& counted, const DeviceSpec& spec);

}  // namespace attnscope::kernel_tests
