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

// What runs under the watch: nothing, the fastest config, the fastest and its ties, or every config.
enum class Watching { nothing, fastest, leaders, everything };

// The progress of a search.
struct Progress {
  bool of_model = false;               // the model ranks and the device waits: `ended` and `most` are the model's
  size_t ended = 0, most = 0;          // configs; it may try fewer than `most`
  bool at_most = false;                // … because a budget ends it
  size_t briefly = 0;                  // of the others, configs with a brief time that may run once more
  size_t modelled = 0, to_model = 0;   // configs that a model has ranked, of those that it may rank; 0: none ranks
  std::optional<double> left_seconds;  // empty: unknown, or nothing is left
  const Observation* best = nullptr;   // the fastest correct one so far
};
// ", 8 timed briefly"; empty if none is.
std::string briefly_text(size_t briefly);
// "modelled 340 of 1,200".
std::string modelled_text(size_t modelled, size_t to_model);

// Searches one kernel's configs on one device. A model ranks them if the strategy needs it, the device decides, and the
// leading configs are watched until all of them are sound.
class Search {
 public:
  struct Settings {
    Watching watch = Watching::leaders;
    bool fresh = false;  // ignores earlier runs
    bool brief = false;  // an early answer: a model ranks first; a local search starts from fewer points, ends early
    bool rank_always = false;   // ranks even if the strategy does not need it; the plan names the model
    size_t ranked = 0;          // how many configs a model ranks, found by a learning search of its own; 0: all
    std::vector<Config> seeds;  // configs to start from
    std::function<void(const Progress&)> on_progress;
    std::function<void(const session::Snapshot&)> on_look;      // gets every snapshot during a wait
    std::function<void(const session::Shared<Scan>&)> on_scan;  // as Run's, but without those of a model
    std::function<void()> on_gate;                              // called when watching the leading configs begins
    const Control* control = nullptr;                           // null: it cannot be paused or stopped
  };
  Search(Plan plan, search::Candidates candidates, const Place& place, Settings settings);

  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  // Blocks. Failure: the device is gone, or the database cannot be read. A stopped search keeps its results so far.
  Result<void> run();

  const Plan& plan() const { return plan_; }
  const search::Candidates& candidates() const { return candidates_; }
  const Scan& scan() const { return run_.scan(); }  // every config that was tried, in order
  Board board() const { return board_of(scan(), candidates_.excluded, plan_.kernel); }
  Counts counts() const { return {scan().points.size(), run_.known()}; }
  // The model's time for a config of the scan, us; empty: the model rejects it, or no model ranked.
  std::optional<double> predicted(size_t at) const;
  // Notes for the user: results that are not stored, a strategy that was replaced.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  using Tried = std::map<size_t, size_t>;  // index in the scan, by point

  Run::Settings settings(bool of_model, size_t budget);
  void tell(Progress now);
  void tell_of_the_model(size_t modelled);
  Result<std::unique_ptr<search::Strategy>> choose();
  std::vector<size_t> seed_points() const;
  std::vector<Config> configs_of(const std::vector<size_t>& points) const;
  Result<void> prepare_model(size_t budget, bool beside);
  Result<void> rank();
  Result<Tried> try_all(Run& run, std::unique_ptr<search::Strategy> strategy, size_t budget);
  Result<void> take_predictions(search::Search& search, const std::vector<size_t>& points);
  Result<std::unique_ptr<search::Strategy>> halve();
  Result<void> gate();

  Plan plan_;
  search::Candidates candidates_;
  const Place& place_;
  std::optional<session::Sharing> sharing_;  // workers that share it
  Settings settings_;
  Run run_;
  std::optional<Run> model_;                      // empty: no model ranks
  bool beside_ = false;                           // it has a session of its own
  size_t to_model_ = 0;                           // configs; 0: no model ranks any more
  Progress told_;                                 // last
  std::vector<std::optional<double>> predicted_;  // for each candidate, us; empty: no model ranked
  std::vector<size_t> points_;                    // of each config of the scan, once it ran
  std::vector<Scan> dropped_;                     // configs that left in rounds before the last
  std::vector<std::string> notes_;
};

}  // namespace attnscope::sweep
