#pragma once
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "core/experiment.h"
#include "core/kernel.h"
#include "core/view.h"
#include "protocol/message.h"
#include "worker/services.h"

namespace attnscope::worker {

// Where a request's answers go, as they come up.
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
  // watch_run.h; of a GPU's kernel also what the emulator counts of it, and what the model says binds it.
  bool watch = false;
};

struct Request {
  Experiment experiment;
  Kernel kernel;
  std::optional<ViewRequest> first_view;
  Stages stages;
  const std::atomic<bool>* cancel = nullptr;
};

// Takes one experiment from its kernel's text to its verdict and time: compile ▸ limits ▸ emulate ▸ model ▸ check, and
// on a GPU compile ▸ limits ▸ launch ▸ check ▸ measure, then watch where asked for, each stage handing its part of the
// Observation to `sink`. Everything about the experiment is checked again here: knobs against the manifest,
// restrictions, device. What is refused, wrong or cancelled is the Failure returned; a wrong output is a verdict, no
// Failure.
Result<void> run_experiment(Services& services, const Request& request, Sink& sink);

}  // namespace attnscope::worker
