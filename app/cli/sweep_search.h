#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/device_wait.h"
#include "cli/sweep_board.h"
#include "cli/sweep_pool.h"
#include "cli/sweep_run.h"
#include "search/search.h"
#include "search/space.h"
#include "store/results.h"

namespace attnscope::cli {

// Where a search runs.
struct SweepPlace {
  std::unique_ptr<WaitingSession> session;
  WaitingSession::Found device;
  std::unique_ptr<store::Results> results;       // null: there are none yet, and the disk or the folder takes none
  std::vector<DeviceSpec> emulated;              // the devices that are data
  std::optional<session::Sharing> sharing = {};  // workers that share it

  // A session at the device of that id (empty: its first worker's best), with the user's results.
  static Result<SweepPlace> open(session::SessionOptions options, const std::string& device);
  static Result<SweepPlace> of(Pool pool);
  // A watch runs on an emulated device, of the GPU's architecture if the device is a GPU.
  bool can_watch(const Kernel& kernel) const;
};

// What runs under the watch: nothing, the fastest one, that and its ties, or every config.
enum class Watching { nothing, fastest, leaders, everything };

// A search of one kernel's configs on one device: a model ranks them if the strategy wants it, the device decides, and
// what leads is watched until all of it is sound.
class SweepSearch {
 public:
  struct Settings {
    Watching watch = Watching::leaders;
    bool fresh = false;         // earlier runs do not count
    bool brief = false;         // for an answer soon: fewer points to start from, and an early end
    bool rank_always = false;   // though the strategy does not want it; the plan names the model
    size_t ranked = 0;          // configs that a model ranks, found by a local search of its own; 0: all
    std::vector<Config> seeds;  // to start from
    std::function<void(const std::string& how_far, PartsDone parts)> on_progress;
  };
  SweepSearch(SweepPlan plan, search::Candidates candidates, SweepPlace& place, Settings settings);

  SweepSearch(const SweepSearch&) = delete;
  SweepSearch& operator=(const SweepSearch&) = delete;

  // Blocks. Failure: the device is gone or the database cannot be read.
  Result<void> run();

  const SweepPlan& plan() const { return plan_; }
  const search::Candidates& candidates() const { return candidates_; }
  const Scan& scan() const { return run_.scan(); }  // every config that was tried, in order
  SweepBoard board() const { return board_of(scan(), candidates_.excluded, plan_.kernel); }
  SweepCounts counts() const { return {scan().points.size(), run_.known()}; }
  // What the model said of a config of the scan, us; empty: it rejects it, or no model ranked.
  std::optional<double> predicted(size_t at) const;
  // What the user should know: results that are not kept, a strategy that was replaced.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  using Tried = std::map<size_t, size_t>;  // index in the scan, by point

  SweepRun::Settings settings(bool of_model, size_t budget);
  Result<std::unique_ptr<search::Strategy>> choose();
  std::vector<size_t> seed_points() const;
  Result<void> rank();
  Result<Tried> try_all(SweepRun& run, std::unique_ptr<search::Strategy> strategy, size_t budget);
  Result<void> gate();
  void show();

  SweepPlan plan_;
  search::Candidates candidates_;
  SweepPlace& place_;
  Settings settings_;
  SweepRun run_;
  std::vector<std::optional<double>> predicted_;  // of each candidate, us; empty: no model ranked
  std::vector<size_t> points_;                    // of each config of the scan, once it ran
  std::vector<std::string> notes_;
  WaitingWords waiting_;
  std::optional<PoolWords> pool_words_;
  std::string how_far_;
  PartsDone parts_;
};

}  // namespace attnscope::cli
