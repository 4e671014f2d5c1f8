#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "report/tuned.h"
#include "sweep/search.h"

namespace attnscope::cli {

using KnobValues = std::map<std::string, int64_t>;

// The fastest correct config that a search found.
struct FoundBest {
  Observation best;
  size_t tried = 0;  // configs
};

// Searches one kernel after the other for a problem's fastest config, each as `attnscope sweep` does: on a GPU a model
// ranks and the device decides; on an emulated device a local search. What comes of each config is kept at once.
class BestSearch {
 public:
  static constexpr size_t kUsualBudget = 24;   // configs of a kernel on the device
  static constexpr size_t kRanked = 40;        // that a model looks at before
  static constexpr size_t kMostSeeds = 4;      // configs of the tables
  static constexpr int64_t kTimedForMs = 200;  // one config on a GPU

  // `tables`: a search starts from their configs of this device, those of the nearest problems first.
  BestSearch(sweep::Place& place, std::vector<report::TunedTable> tables, size_t budget)
      : place_(place), tables_(std::move(tables)), budget_(budget) {}

  // Failure (Stage::input): no config is correct here, with the reason of one. The user sees notes and how far it is.
  Result<FoundBest> search(const Kernel& kernel, const Problem& problem);
  // Only these configs; knobs that one leaves out have the manifest's default.
  Result<FoundBest> search(const Kernel& kernel, const Problem& problem, const std::vector<KnobValues>& configs);

 private:
  sweep::Plan plan_of(const Kernel& kernel, const Problem& problem, const Config& held) const;
  std::vector<Config> seeds_for(const Kernel& kernel, const Problem& problem) const;
  Result<FoundBest> run(sweep::Plan plan, search::Candidates candidates, sweep::Search::Settings settings);

  sweep::Place& place_;
  std::vector<report::TunedTable> tables_;
  size_t budget_;
};

// Which kernels' searches for a problem on a device began and have not ended, so that an interrupted one goes on. A
// file for each of them under `folder`.
class BestMarks {
 public:
  BestMarks(std::filesystem::path folder, const Problem& problem, const std::string& device);
  bool has(const Kernel& kernel) const;
  Result<void> put(const Kernel& kernel) const;
  void take(const Kernel& kernel) const;  // one that cannot be removed stays, and its search is repeated

 private:
  std::filesystem::path file_of(const Kernel& kernel) const;

  std::filesystem::path folder_;
  std::string of_;  // the problem and the device
};

}  // namespace attnscope::cli
