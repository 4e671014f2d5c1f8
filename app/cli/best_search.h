#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/exit_status.h"
#include "report/tuned.h"
#include "sweep/search.h"

namespace attnscope::cli {

using KnobValues = std::map<std::string, int64_t>;

// What a search found.
struct FoundBest {
  std::optional<Observation> best;  // of the fastest correct config; empty: none is correct
  size_t tried = 0;                 // number of configs
  Failure why_none;                 // of one of the configs, if none is correct
  ExitStatus status = kCorrectOrUnchecked;
};

// Searches each kernel in turn for a problem's fastest config, as `attnscope sweep` does: on a GPU a model ranks the
// configs and the device decides; on an emulated device a local search is used. Each config's result is stored at once.
class BestSearch {
 public:
  static constexpr size_t kUsualBudget = 24;   // configs per kernel that run on the device
  static constexpr size_t kRanked = 64;        // configs that the model evaluates before that
  static constexpr size_t kMostSeeds = 4;      // configs taken from the tables
  static constexpr int64_t kTimedForMs = 200;  // per config on a GPU

  // `tables`: a search starts from their configs, those for this device first, then those for its architecture; of
  // these those of the most similar problems first.
  BestSearch(sweep::Place& place, std::vector<report::TunedTable> tables, size_t budget)
      : place_(place), tables_(std::move(tables)), budget_(budget) {}

  // Failure: the kernel cannot be searched here (Stage::input), or the device is gone. Notes and progress are shown to
  // the user.
  Result<FoundBest> search(const Kernel& kernel, const Problem& problem);
  // Tries only these configs. A knob that a config leaves out has the manifest's default.
  Result<FoundBest> search(const Kernel& kernel, const Problem& problem, const std::vector<KnobValues>& configs);

 private:
  sweep::Plan plan_of(const Kernel& kernel, const Problem& problem, const Config& held) const;
  std::vector<Config> seeds_for(const Kernel& kernel, const Problem& problem) const;
  Result<FoundBest> run(sweep::Plan plan, search::Candidates candidates, sweep::Search::Settings settings);

  sweep::Place& place_;
  std::vector<report::TunedTable> tables_;
  size_t budget_;
};

}  // namespace attnscope::cli
