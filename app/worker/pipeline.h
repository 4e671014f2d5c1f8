#pragma once
#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compile/compiler.h"
#include "core/experiment.h"
#include "core/kernel.h"
#include "core/view.h"
#include "device/device.h"
#include "protocol/message.h"
#include "worker/job_pool.h"
#include "worker/kept_runs.h"
#include "worker/truth_maker.h"

namespace attnscope::worker {

// Everything that outlives a request.
struct Services {
  // `cache`: variants/, programs/ and references/ below it; empty: nothing on disk. `assets` holds devices/.
  Services(std::string app_version, const std::filesystem::path& cache, const std::filesystem::path& assets);

  std::string app_version;
  std::shared_ptr<compile::Compiler> compiler;
  std::vector<std::shared_ptr<device::Device>> devices;
  std::vector<Failure> device_failures;  // specs that did not load, a driver that gives no GPU
  TruthMaker truth;
  KeptRuns kept;
  JobPool pool{3};

  Result<std::shared_ptr<device::Device>> find_device(const std::string& id) const;  // Stage::device: no such one
  std::shared_ptr<device::Device> emulated_twin(int arch) const;                     // null: there is none
  Versions versions() const;
  bool lost() const;  // a device took its context along: this process must end

 private:
  void add_gpus(const std::filesystem::path& assets, const std::vector<DeviceSpec>& twins);

  std::string driver_;  // "580.95.05, CUDA 13.0"; empty: none
};

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
