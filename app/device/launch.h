#pragma once
// The request to run on a device, and its outcome.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "check/guarded_buffer.h"
#include "check/inputs.h"
#include "check/operands.h"
#include "core/kernel.h"
#include "core/observation.h"
#include "core/problem.h"
#include "emulator/emulator.h"
#include "model/occupancy.h"

namespace attnscope::device {

// A variant that is ready to run on one device: loaded on a GPU, or decoded for the emulator. Immutable and shared by
// runs.
class Loaded {
 public:
  virtual ~Loaded() = default;
  // Version of the routine's library: "13.1.0"; empty: there is no library, or it does not report one.
  virtual std::string library_version() const { return {}; }
};

// How an emulated run differs from an ordinary one, to find faults that an ordinary run hides by luck
// (emulator::RunOptions).
struct Trial {
  std::vector<uint32_t> ctas;  // the CTAs to run; empty: chosen by sampled_share
  bool watch = false;
  std::vector<emulator::Probe> probes;    // in the first of `ctas`
  std::vector<SharedPlace> shared_names;  // names in the findings
  uint32_t shared_fill = 0;
  uint64_t random_fill = 0, order_seed = 0;
  std::vector<uint32_t> open_for_warps, open_for_lanes;  // barriers of the request's launch; of a program, its last
  uint64_t step_budget = 0;                              // warp instructions of a warp; 0: the usual limit
};

// A step of a program, over the request's operands.
struct LaunchStep {
  ProgramStep::Kind kind = ProgramStep::Kind::launch;
  std::string name;  // for messages
  // For a launch, as in LaunchRequest:
  std::shared_ptr<const Loaded> loaded;
  model::LaunchShape shape;
  int64_t dynamic_shared = 0;
  std::vector<ArgumentValue> arguments;
  std::vector<SharedPlace> shared_names;  // names in a watch's findings
  // For a memset or copy: indices of operands.
  size_t to = 0, from = 0;
  int byte = 0;
};

struct LaunchRequest {
  std::string name;  // the kernel with its config, for messages
  std::shared_ptr<const Loaded> loaded;
  Problem problem;
  std::vector<std::string> args;  // attention's arguments, in the kernel's parameter order
  model::LaunchShape shape;
  int64_t dynamic_shared = 0;  // bytes
  // Only for emulated devices: the share of the CTAs to run, (0, 1]. If that takes longer than `max_time_ms` (at least
  // 2 s) on an ordinary laptop, a smaller sample runs instead.
  double sampled_share = 1.0;
  int64_t max_time_ms = 0;
  std::shared_ptr<const check::AttentionInputs> inputs;  // for an attention problem; null: the device makes them
  // For a kernel that is not attention, instead of args and inputs.
  std::shared_ptr<const check::Operands> operands;
  std::vector<ArgumentValue> arguments;
  // For a program with operands: its steps in order. loaded, shape, dynamic_shared and arguments are then its last
  // launch's. A trial's CTAs and a sample apply only to that launch; the others run whole, because later steps read
  // what they write.
  std::vector<LaunchStep> steps;
  Trial trial;  // only for emulated devices
};

// Callbacks during a run, on the thread that called run().
struct LaunchEvents {
  // Checked every few milliseconds; when set, the run fails with Stage::cancelled.
  const std::atomic<bool>* cancel = nullptr;
  // Only for emulated devices: called when the buffers are made (which takes seconds for gigabytes) and the run begins.
  std::function<void()> on_start;
  std::function<void(int64_t done, int64_t total)> on_progress;  // CTAs
  std::function<void(const Counters& so_far)> on_counters;
  // Only for emulated devices: called once, however the run ends, if the kernel printed anything.
  std::function<void(const Printed&)> on_printed;
  // `copy` returns the output in its present state: poison where nothing has been stored yet.
  std::function<void(const std::function<std::vector<std::byte>()>& copy)> on_output;
};

// The counts of each emulated instruction, for the latency model and the source panel.
struct EmulatedDetail {
  std::shared_ptr<const emulator::Program> program;
  emulator::RunResult result;
};

struct LaunchOutcome {
  // [batch, heads, seq_q, head_dim] in the problem's layout and dtype.
  std::shared_ptr<const check::GuardedBuffer> output;
  // Every buffer of role out and inout, in the operands' order. `output` is the first of them.
  std::vector<std::shared_ptr<const check::GuardedBuffer>> outputs;
  bool partial = false;  // only a sample of the CTAs ran
  // Only for emulated devices, because a GPU does not report what a kernel does. For a program, those of its last
  // launch.
  std::optional<Counters> counters;
  std::optional<EmulatedDetail> emulated;
  // For a program: each step's counts; empty for a memset or a copy.
  struct Step {
    std::optional<Counters> counters;
    std::optional<EmulatedDetail> emulated;
  };
  std::vector<Step> steps;
};

}  // namespace attnscope::device
