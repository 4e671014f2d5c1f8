#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "check/reference.h"
#include "check/verdict.h"
#include "compile/compiler.h"
#include "core/device_spec.h"
#include "core/gpu_reading.h"
#include "core/observation.h"
#include "core/problem.h"
#include "core/result.h"
#include "device/launch.h"
#include "device/pc_samples.h"
#include "measure/clock_spans.h"
#include "measure/sampling.h"

namespace attnscope::device {

// A device that runs variants.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceSpec& spec() const = 0;
  // Failure (Stage::decode): machine code that the device cannot run.
  virtual Result<std::shared_ptr<const Loaded>> load(const compile::Variant& variant) = 0;
  // The library's routine of that name, for problems like this one (kernels whose manifest has a "library").
  virtual Result<std::shared_ptr<const Loaded>> load_routine(const Library& library, const std::string&,
                                                             const Problem&) {
    return fail(Stage::device, spec().id + " has no routines of " + library.name(), "Choose another device.");
  }
  // Runs once, with poisoned output and guarded buffers, and checks that the inputs are unchanged. Failures:
  // Stage::launch (an illegal or misaligned access, parameters that do not match the manifest's args, an input that was
  // written), Stage::deadline (a deadlock or an endless loop), Stage::cancelled.
  virtual Result<LaunchOutcome> run(const LaunchRequest& request, const LaunchEvents& events) = 0;
  // Times the same launch, hot or cold. Null on a device whose time is modelled. The device must outlive the source.
  // `on_launch` is called after every launch that ended.
  virtual Result<std::unique_ptr<measure::Source>> timer(const LaunchRequest&, CacheState,
                                                         std::function<void()> /*on_launch*/) {
    return std::unique_ptr<measure::Source>();
  }
  // The device's own counters for the same launch, over as many runs as they need. `on_pass` is called with 0 passes
  // before and after the warm-up run, then after each pass. Nothing may be timed in a process that calls this. Failure:
  // Stage::device.
  virtual Result<HardwareCounters> profile(const LaunchRequest&,
                                           const std::function<void(int64_t done, int64_t total)>& /*on_pass*/) {
    return fail(Stage::device, spec().id + " has no hardware counters",
                "Name a GPU with --device; `attnscope devices` lists them.");
  }
  // Where the device's warps are while the same launch runs, as often as it takes for enough samples. `on_step` is
  // called after each launch. Nothing may be timed in a process that does this. Failure: Stage::device.
  virtual Result<PcSamples> sample(const LaunchRequest&, const std::function<void()>& /*on_step*/) {
    return fail(Stage::device, spec().id + " does not sample where its warps are",
                "Name a GPU with --device; `attnscope devices` lists them.");
  }
  // Which SM runs which warp when, of the same launch of an instrumented twin (catalog/clock_twin.h): the twin runs
  // twice, and the second launch is recorded. Failure: Stage::device, Stage::launch.
  virtual Result<measure::ClockSpans> clocks(const LaunchRequest&) {
    return fail(Stage::device, spec().id + " has no clocks; its timeline is modelled",
                "Name a GPU with --device; `attnscope devices` lists them.");
  }
  // The device makes an attention problem's inputs itself, bit for bit the same: LaunchRequest::inputs may be null.
  virtual bool makes_inputs() const { return false; }
  // The fp64 reference from a kernel of ours, for more rows than the CPU would compute. Null if the device has none and
  // the CPU must make it.
  virtual Result<std::shared_ptr<const check::Reference>> reference(const Problem&, check::Accumulate) {
    return std::shared_ptr<const check::Reference>();
  }
  // Compares the last run's output with the reference on the device. Empty if the device cannot, or if the output is
  // not from the last run; the CPU then compares.
  virtual Result<std::optional<check::Comparison>> compare(const LaunchOutcome&,
                                                           std::shared_ptr<const check::Reference>) {
    return std::optional<check::Comparison>();
  }
  // What the GPU reports of itself now. Empty on a device that has no such figures. Any thread may call it.
  virtual std::optional<GpuReading> reading() const { return std::nullopt; }
  // True if the device no longer works in this process, which must end: an illegal access of a kernel destroyed its
  // context.
  virtual bool lost() const { return false; }
};

}  // namespace attnscope::device
