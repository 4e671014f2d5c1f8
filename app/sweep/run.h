#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/scan.h"
#include "session/session.h"
#include "store/results.h"
#include "sweep/control.h"

namespace attnscope::sweep {

// True if an earlier run of the same experiment can be reused: it has the same versions, and its result was caused by
// the config (a time and a verdict, or a refusal, a hang), not by a lost worker or a full disk.
bool answers_again(const Observation& earlier, const Versions& now, bool watched);

// The progress of a run.
struct RunProgress {
  size_t ended = 0, asked = 0;         // configs
  size_t briefly = 0;                  // of the others those with a brief time
  const Observation* best = nullptr;   // the fastest correct one so far
  std::optional<double> left_seconds;  // for the requested configs, estimated from the runs so far
};

// Runs configs of one kernel through a session's scan lane. Times equal machine code once, and reuses the database's
// results for the same experiment. Stores each result at once, so that a killed sweep can continue.
class Run {
 public:
  struct Settings {
    session::Watch watch = session::Watch::never;
    bool fresh = false;  // ignores earlier runs
    Versions versions;   // of the device's worker
    std::function<void(const RunProgress&)> on_progress;
    std::optional<session::Sharing> sharing;                          // workers that share it
    std::function<void(const session::Snapshot&)> on_look = nullptr;  // gets every snapshot during a wait
    // Gets all configs so far, including running ones.
    std::function<void(const session::Shared<Scan>&)> on_scan = nullptr;
    std::function<uint64_t()> new_id;  // for a scan; never empty
    const Control* control = nullptr;  // null: it cannot be paused or stopped
  };
  // `held` must have its kernel's hash and the id of an existing device. `results` may be null: nothing is stored.
  Run(session::Session& session, store::Results* results, Experiment held, Settings settings)
      : session_(session), results_(results), held_(std::move(held)), settings_(std::move(settings)) {
    scan_.held = held_;
  }

  // Runs configs that were not run before; each must be complete. Blocks. Failure: the session refuses all of them.
  Result<void> run(const std::vector<Config>& configs);
  // The same in two steps, between which the caller may do something else: asks the session for them, and waits.
  Result<void> begin(const std::vector<Config>& configs);
  Result<void> end();
  // Runs these points again under the watch. The new results replace the earlier ones.
  Result<void> watch(const std::vector<size_t>& points);

  // Adds finished points of another run of the same kernel to the scan. After that, only watch() may be called.
  void add(const Scan& ended);

  // True if it was stopped: unfinished configs are left out, and nothing more runs.
  bool stopped() const { return settings_.control != nullptr && settings_.control->stopped(); }

  // Every config so far, in the order of run(). All have finished.
  const Scan& scan() const { return scan_; }
  size_t known() const { return known_; }  // configs answered by earlier runs
  // How many configs have ended by now, between begin() and end() too.
  size_t ended_by_now() const;
  // Why results are not stored; empty if they are.
  const std::optional<Failure>& not_kept() const { return not_kept_; }

 private:
  Experiment experiment_of(const Config& config) const;
  Result<void> look_up(const Config& config);
  session::ScanRequest request_for(const std::vector<Config>& configs, session::Watch watch) const;
  // Returns false if it was stopped.
  bool ask(session::ScanRequest& request, bool again);
  Result<session::Shared<Scan>> answer(session::ScanRequest request, bool asked, bool again);
  Result<session::Shared<Scan>> answer_once(uint64_t id, bool again);
  void learn(const Scan& scan);
  void keep(const Observation& observation);
  void show_progress(const Scan& scan, size_t ended_before, double began_ms) const;

  session::Session& session_;
  store::Results* results_;
  Experiment held_;
  Settings settings_;
  Scan scan_;
  std::map<std::string, session::Shared<Observation>> runs_;  // by experiment hash
  std::set<std::string> kept_;                                // hashes of experiments in the database
  size_t known_ = 0;
  std::optional<Failure> not_kept_;
  std::optional<session::ScanRequest> begun_;  // between begin() and end()
};

}  // namespace attnscope::sweep
