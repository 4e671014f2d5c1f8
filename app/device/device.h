#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "check/guarded_buffer.h"
#include "check/inputs.h"
#include "check/operands.h"
#include "check/reference.h"
#include "check/verdict.h"
#include "compile/compiler.h"
#include "core/device_spec.h"
#include "core/observation.h"
#include "core/problem.h"
#include "core/result.h"
#include "emulator/emulator.h"
#include "emulator/exec/counters.h"
#include "measure/sampling.h"
#include "model/occupancy.h"

namespace attnscope::device {

// A variant made ready for one device: loaded on a GPU, decoded for the emulator. Immutable; shared between runs.
class Loaded {
 public:
  virtual ~Loaded() = default;
  // Of the library whose routine this is: "13.1.0"; empty: none, or it does not say.
  virtual std::string library_version() const { return {}; }
};

// How an emulated run differs from the ordinary one, to look for what luck hides (emulator::RunOptions).
struct Trial {
  std::vector<uint32_t> ctas;  // the CTAs to run; empty: as sampled_share says
  bool watch = false;
  std::vector<emulator::SharedName> shared_names;  // for the findings
  uint32_t shared_fill = 0;
  uint64_t random_fill = 0, order_seed = 0;
};

struct LaunchRequest {
  std::string name;  // the kernel with its config, for messages
  std::shared_ptr<const Loaded> loaded;
  Problem problem;
  std::vector<std::string> args;  // attention's, in the kernel's parameter order
  model::LaunchShape shape;
  int64_t dynamic_shared = 0;  // bytes
  // Emulated devices alone: the share of the CTAs to run, (0, 1]. All, unless that is more work than fits `max_time_ms`
  // (2 s at least) on an ordinary laptop: then a sample that does.
  double sampled_share = 1.0;
  int64_t max_time_ms = 0;
  std::shared_ptr<const check::AttentionInputs> inputs;  // of an attention problem; null: the device makes them
  // Of a kernel that is no attention, in place of args and inputs.
  std::shared_ptr<const check::Operands> operands;
  std::vector<ArgumentValue> arguments;
  Trial trial;  // emulated devices alone
};

// What a run tells while it goes on, from the thread that called run().
struct LaunchEvents {
  const std::atomic<bool>* cancel = nullptr;  // looked at every few milliseconds; then Stage::cancelled
  std::function<void(int64_t done, int64_t total)> on_progress;  // CTAs
  std::function<void(const Counters& so_far)> on_counters;
  // Emulated devices alone, once and however the run ends: what the kernel printed, if it did.
  std::function<void(const Printed&)> on_printed;
  // `copy` makes a copy of the output as it stands: poison where nothing was stored yet.
  std::function<void(const std::function<std::vector<std::byte>()>& copy)> on_output;
};

// What one emulated instruction did, for the latency model and for the source panel.
struct EmulatedDetail {
  std::shared_ptr<const emulator::Program> program;
  emulator::RunResult result;
};

struct LaunchOutcome {
  std::shared_ptr<const check::GuardedBuffer>
      output;  // [batch, heads, seq_q, head_dim] in the problem's layout and dtype
  // Every buffer of role out and inout, in the operands' order; `output` is the first of them.
  std::vector<std::shared_ptr<const check::GuardedBuffer>> outputs;
  bool partial = false;  // only a sample of the CTAs ran
  // Emulated devices alone: a GPU runs the kernel, what it did there is not seen.
  std::optional<Counters> counters;
  std::optional<EmulatedDetail> emulated;
};

// Where a variant runs.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceSpec& spec() const = 0;
  // Stage::decode: machine code that the device does not take.
  virtual Result<std::shared_ptr<const Loaded>> load(const compile::Variant& variant) = 0;
  // A library's routine of that name, for problems like this one (kernels whose manifest has a "library").
  virtual Result<std::shared_ptr<const Loaded>> load_routine(const std::string& library, const std::string&,
                                                             const Problem&) {
    return fail(Stage::device, spec().id + " has no routines of " + library, "Choose another device.");
  }
  // Runs once, output poisoned before, buffers guarded and inputs held unchanged. Failures: Stage::launch (an illegal
  // or misaligned access, parameters that do not match the manifest's args, an input that was written), Stage::deadline
  // (a deadlock or an endless loop), Stage::cancelled.
  virtual Result<LaunchOutcome> run(const LaunchRequest& request, const LaunchEvents& events) = 0;
  // Times the same launch, hot or cold. Null where time is modelled. The device must outlive it.
  // `on_launch` is called after every launch that ended.
  virtual Result<std::unique_ptr<measure::Source>> timer(const LaunchRequest&, CacheState,
                                                         std::function<void()> /*on_launch*/) {
    return std::unique_ptr<measure::Source>();
  }
  // The device makes an attention problem's inputs itself, the same bits: LaunchRequest::inputs may be null.
  virtual bool makes_inputs() const { return false; }
  // The fp64 reference by a kernel of our own, on more rows than the CPU would take. Null where there is none to be
  // had: then the CPU makes it.
  virtual Result<std::shared_ptr<const check::Reference>> reference(const Problem&, check::Accumulate) {
    return std::shared_ptr<const check::Reference>();
  }
  // The last run's output held against the reference where it lies. Empty where the device does not, or the output is
  // not the last run's: then the CPU does.
  virtual Result<std::optional<check::Comparison>> compare(const LaunchOutcome&,
                                                           std::shared_ptr<const check::Reference>) {
    return std::optional<check::Comparison>();
  }
  // The device is of no more use to this process, which must end: a kernel's illegal access took its context along.
  virtual bool lost() const { return false; }
};

}  // namespace attnscope::device
