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

// Whether an earlier run answers for the same experiment now: it was of the same versions, and what came of it is the
// config's own doing (a time and a verdict, or a refusal, a hang), not a lost worker's or a full disk's.
bool answers_again(const Observation& earlier, const Versions& now, bool watched);

// How far a run is.
struct RunProgress {
  size_t ended = 0, asked = 0;         // configs
  const Observation* best = nullptr;   // the fastest correct one so far
  std::optional<double> left_seconds;  // of those asked so far, from the runs so far
};

// Runs configs of one kernel through a session's scan lane: equal machine code once, and what the results database
// holds of the same experiment not again. Keeps what comes of each at once, so that a killed sweep goes on where it
// was.
class Run {
 public:
  struct Settings {
    session::Watch watch = session::Watch::never;
    bool fresh = false;  // earlier runs do not count
    Versions versions;   // of the device's worker
    std::function<void(const RunProgress&)> on_progress;
    std::optional<session::Sharing> sharing;                          // workers that share it
    std::function<void(const session::Snapshot&)> on_look = nullptr;  // sees every snapshot during a wait
    // Sees all configs so far, those under way included.
    std::function<void(const session::Shared<Scan>&)> on_scan = nullptr;
    std::function<uint64_t()> new_id;  // of a scan; never empty
    const Control* control = nullptr;  // null: it is not paused or stopped
  };
  // `held`: with its kernel's hash and the id of a device that is here. `results` may be null: nothing is kept.
  Run(session::Session& session, store::Results* results, Experiment held, Settings settings)
      : session_(session), results_(results), held_(std::move(held)), settings_(std::move(settings)) {
    scan_.held = held_;
  }

  // Configs that were not run before; each complete. Blocks. Failure: the session refuses them all.
  Result<void> run(const std::vector<Config>& configs);
  // Runs these again under the watch; what it says replaces what was known of them.
  Result<void> watch(const std::vector<size_t>& points);

  // Ended points of another run of the same kernel join the scan as they are; nothing of it may run after that but a
  // watch.
  void add(const Scan& ended);

  // It was stopped: what had not ended is not there, and nothing more runs.
  bool stopped() const { return settings_.control != nullptr && settings_.control->stopped(); }

  // Every config so far, in the order of run(). All have ended.
  const Scan& scan() const { return scan_; }
  size_t known() const { return known_; }  // configs that earlier runs answered
  // Why results are not kept, if they are not.
  const std::optional<Failure>& not_kept() const { return not_kept_; }

 private:
  Experiment experiment_of(const Config& config) const;
  Result<void> look_up(const Config& config);
  Result<session::Shared<Scan>> ask(const std::vector<Config>& configs, session::Watch watch, bool again);
  Result<session::Shared<Scan>> ask_once(const session::ScanRequest& request, bool again);
  void learn(const Scan& scan);
  void keep(const Observation& observation);
  void show_progress(const Scan& scan, size_t ended_before, double began_ms) const;

  session::Session& session_;
  store::Results* results_;
  Experiment held_;
  Settings settings_;
  Scan scan_;
  std::map<std::string, session::Shared<Observation>> runs_;  // by the experiment's hash
  std::set<std::string> kept_;                                // hashes of what is in the database
  size_t known_ = 0;
  std::optional<Failure> not_kept_;
};

}  // namespace attnscope::sweep
