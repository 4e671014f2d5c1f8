#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/experiment.h"
#include "core/kernel.h"
#include "core/view.h"
#include "device/launch.h"
#include "protocol/message.h"
#include "worker/services.h"

namespace attnscope::worker {

// Receives the parts of an answer as they are produced.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void part(std::vector<protocol::PartValue> values, bool final = true) = 0;
  virtual void tile(Tile tile) = 0;
  virtual void progress(protocol::Step step, int64_t done, int64_t total) = 0;
};

// The stages of a request after compile and limits: run, watch or both.
struct Stages {
  bool run = true;  // launch, model, check, measure
  // See watch_run.h. For a GPU's kernel it also gives the emulator's counters and the model's bound.
  bool watch = false;
  bool whole_grid = false;  // the watch covers every CTA
  bool needless = false;    // the watch looks for needless barriers too (barrier_run.h)
};

struct Request {
  Experiment experiment;
  Kernel kernel;
  std::optional<ViewRequest> first_view;
  Stages stages;
  bool keeps_output = true;              // keeps the output for maps
  std::vector<Experiment> ahead;         // compiled meanwhile; the first one may also start in the emulator
  std::vector<std::string> known_codes;  // if its machine code is one of these, the run ends after the limits
  double hopeless_us = 0;                // stop timing if the first samples are slower than this; 0: no limit
  int64_t compile_ms = protocol::Deadlines{}.compile_ms;  // the deadline for compiling
  const std::atomic<bool>* cancel = nullptr;
};

// Takes one experiment from its kernel's text to its verdict and time: compile ▸ limits ▸ emulate ▸ model ▸ check, and
// on a GPU compile ▸ limits ▸ launch ▸ check ▸ measure; then the watch, if requested. Each stage passes its part of the
// Observation to `sink`. The experiment is validated again here: knobs against the manifest, restrictions, device. A
// refusal, an error or a cancel is returned as a Failure; a wrong output is a verdict, not a Failure.
Result<void> run_experiment(Services& services, const Request& request, Sink& sink);

// Makes the trial for a launch with that shape and code, given the named parts of its dynamic shared memory.
using MakeTrial = std::function<Result<device::Trial>(const model::LaunchShape& shape, const compile::Variant& code,
                                                      const std::vector<SharedBuffer>& dynamic_parts)>;
// Runs an experiment once in the emulator with the trial from `make`, on its own device or, for a GPU, on an emulated
// one of the same architecture. `sink` receives only progress.
Result<device::LaunchOutcome> run_trial(Services& services, const Request& request, const MakeTrial& make, Sink& sink);

// Compiles and launches the twin of the experiment's kernel on its own device; nothing of it is timed or judged.
// Failures: those of a run; Stage::input for a kernel that has no twin (a library's, machine code, a program).
Result<ClockedRun> run_clocked(Services& services, const Request& request, Sink& sink);

// Runs a kernel other than attention over the given buffers (in the order of its workload's) on its own device, behind
// a watch in the emulator.
Result<OverBuffers> run_over(Services& services, const Request& request,
                             std::shared_ptr<const check::Operands> operands, Sink& sink);

}  // namespace attnscope::worker
