#pragma once
#include <memory>
#include <optional>
#include <string>

#include "core/experiment.h"
#include "device/device.h"
#include "worker/job_pool.h"

namespace attnscope::worker {

// A run in the emulator that begins before its request arrives: while one value of a scan is modelled and checked, the
// next one executes. Holds at most one run. Call only from the thread that runs experiments.
class BegunRun {
 public:
  // True if an attention problem's output would take memory that the current run still needs.
  static bool is_large(const Problem& problem);

  // `pool` must outlive the object.
  explicit BegunRun(JobPool& pool) : pool_(pool) {}
  ~BegunRun() { drop(); }
  BegunRun(const BegunRun&) = delete;
  BegunRun& operator=(const BegunRun&) = delete;

  // Begins a run and drops any earlier one. `code` is the hash of the machine code.
  void begin(Experiment experiment, std::string code, std::shared_ptr<device::Device> device,
             device::LaunchRequest launch);
  // Ends the run unless it is of that experiment.
  void keep_only(const Experiment& experiment);
  void drop();
  // Waits for that experiment's run and calls on_start, on_progress and on_printed. Empty if none began, if its code
  // differs, or if it failed; the caller's own run then reports the failure. Failure: Stage::cancelled.
  Result<std::optional<device::LaunchOutcome>> take(const Experiment& experiment, const std::string& code,
                                                    const device::LaunchEvents& events);

 private:
  struct Run;

  JobPool& pool_;
  std::shared_ptr<Run> run_;
};

}  // namespace attnscope::worker
