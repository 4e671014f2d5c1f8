#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "search/search.h"
#include "search/space.h"
#include "sweep/board.h"
#include "sweep/place.h"
#include "sweep/run.h"

namespace attnscope::sweep {

// What runs under the watch: nothing, the fastest one, that and its ties, or every config.
enum class Watching { nothing, fastest, leaders, everything };

// How far a search is.
struct Progress {
  bool of_model = false;               // it ranks
  size_t ended = 0, most = 0;          // configs; it may try fewer than `most`
  bool at_most = false;                // … because a budget ends it
  std::optional<double> left_seconds;  // empty: not known, or nothing is left
  const Observation* best = nullptr;   // the fastest correct one so far
};

// A search of one kernel's configs on one device: a model ranks them if the strategy wants it, the device decides, and
// what leads is watched until all of it is sound.
class Search {
 public:
  struct Settings {
    Watching watch = Watching::leaders;
    bool fresh = false;         // earlier runs do not count
    bool brief = false;         // for an answer soon: fewer points to start from, and an early end
    bool rank_always = false;   // though the strategy does not want it; the plan names the model
    size_t ranked = 0;          // configs that a model ranks, found by a local search of its own; 0: all
    std::vector<Config> seeds;  // to start from
    std::function<void(const Progress&)> on_progress;
    std::function<void(const session::Snapshot&)> on_look;      // sees every snapshot during a wait
    std::function<void(const session::Shared<Scan>&)> on_scan;  // as Run's, but none of a model's
    std::function<void()> on_gate;                              // what leads is watched from now on
    const Control* control = nullptr;                           // null: it is not paused or stopped
  };
  Search(Plan plan, search::Candidates candidates, Place& place, Settings settings);

  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  // Blocks. Failure: the device is gone or the database cannot be read. A search that is stopped has what came before.
  Result<void> run();

  const Plan& plan() const { return plan_; }
  const search::Candidates& candidates() const { return candidates_; }
  const Scan& scan() const { return run_.scan(); }  // every config that was tried, in order
  Board board() const { return board_of(scan(), candidates_.excluded, plan_.kernel); }
  Counts counts() const { return {scan().points.size(), run_.known()}; }
  // What the model said of a config of the scan, us; empty: it rejects it, or no model ranked.
  std::optional<double> predicted(size_t at) const;
  // What the user should know: results that are not kept, a strategy that was replaced.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  using Tried = std::map<size_t, size_t>;  // index in the scan, by point

  Run::Settings settings(bool of_model, size_t budget);
  Result<std::unique_ptr<search::Strategy>> choose();
  std::vector<size_t> seed_points() const;
  Result<void> rank();
  Result<Tried> try_all(Run& run, std::unique_ptr<search::Strategy> strategy, size_t budget);
  Result<std::unique_ptr<search::Strategy>> halve();
  Result<void> gate();

  Plan plan_;
  search::Candidates candidates_;
  Place& place_;
  Settings settings_;
  Run run_;
  std::vector<std::optional<double>> predicted_;  // of each candidate, us; empty: no model ranked
  std::vector<size_t> points_;                    // of each config of the scan, once it ran
  std::vector<Scan> dropped_;                     // of rounds before the last, what did not go on
  std::vector<std::string> notes_;
};

}  // namespace attnscope::sweep
