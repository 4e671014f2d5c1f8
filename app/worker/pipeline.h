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

// Takes a request's answers as they are produced.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void part(std::vector<protocol::PartValue> values, bool final = true) = 0;
  virtual void tile(Tile tile) = 0;
  virtual void progress(protocol::Step step, int64_t done, int64_t total) = 0;
};

// Which stages a request goes through, after compile and limits: one of them or both.
struct Stages {
  bool run = true;  // launch, model, check, measure
  // watch_run.h; for a GPU's kernel also the emulator's counters and the model's bound.
  bool watch = false;
  bool whole_grid = false;  // the watch sees every CTA
};

struct Request {
  Experiment experiment;
  Kernel kernel;
  std::optional<ViewRequest> first_view;
  Stages stages;
  bool keeps_output = true;              // for maps
  std::vector<Experiment> ahead;         // compiled meanwhile; the first may also begin in the emulator
  std::vector<std::string> known_codes;  // the run ends after its limits if its machine code is one of these
  double hopeless_us = 0;                // it is timed no further if its first samples are slower; 0: it is
  const std::atomic<bool>* cancel = nullptr;
};

// Takes one experiment from its kernel's text to its verdict and time: compile ▸ limits ▸ emulate ▸ model ▸ check, and
// on a GPU compile ▸ limits ▸ launch ▸ check ▸ measure, then the watch if requested. Each stage hands its part of the
// Observation to `sink`. The experiment is validated again here: knobs against the manifest, restrictions, device. A
// refusal, an error or a cancel is returned as a Failure; a wrong output is a verdict, not a Failure.
Result<void> run_experiment(Services& services, const Request& request, Sink& sink);

// What a trial differs in, of a launch of that shape whose code that is, with the named parts of its dynamic shared
// memory.
using MakeTrial = std::function<Result<device::Trial>(const model::LaunchShape& shape, const compile::Variant& code,
                                                      const std::vector<SharedBuffer>& dynamic_parts)>;
// Runs an experiment once in the emulator as `make` says, on its own device or, of a GPU's, on an emulated one of its
// architecture. Only progress goes to `sink`.
Result<device::LaunchOutcome> run_trial(Services& services, const Request& request, const MakeTrial& make, Sink& sink);

// A run of a kernel that is not attention over given buffers, in the order of its workload's, on its own device, behind
// a watch in the emulator.
Result<OverBuffers> run_over(Services& services, const Request& request,
                             std::shared_ptr<const check::Operands> operands, Sink& sink);

}  // namespace attnscope::worker
