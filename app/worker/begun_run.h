#pragma once
#include <memory>
#include <optional>
#include <string>

#include "core/experiment.h"
#include "device/device.h"
#include "worker/job_pool.h"

namespace attnscope::worker {

// A run in the emulator that began before it was asked for: while one value of a scan is modelled and judged, the next
// one executes. At most one. Of the thread that runs experiments.
class BegunRun {
 public:
  // Of attention: its output would take memory that the other run still needs.
  static bool is_large(const Problem& problem);

  // `pool` must live as long.
  explicit BegunRun(JobPool& pool) : pool_(pool) {}
  ~BegunRun() { drop(); }
  BegunRun(const BegunRun&) = delete;
  BegunRun& operator=(const BegunRun&) = delete;

  // `code`: the hash of the machine code. One that began before is dropped.
  void begin(Experiment experiment, std::string code, std::shared_ptr<device::Device> device,
             device::LaunchRequest launch);
  // Ends a run that began for another experiment.
  void keep_only(const Experiment& experiment);
  void drop();
  // Waits for that experiment's run, and tells on_start, on_progress and on_printed. Empty: none began, its code is
  // another one, or it failed; a run of its own says why. Failure: Stage::cancelled.
  Result<std::optional<device::LaunchOutcome>> take(const Experiment& experiment, const std::string& code,
                                                    const device::LaunchEvents& events);

 private:
  struct Run;

  JobPool& pool_;
  std::shared_ptr<Run> run_;
};

}  // namespace attnscope::worker
