#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "search/forest.h"
#include "search/strategy.h"
#include "search/surrogate.h"

namespace attnscope::search {

// A model ranks the points while the device runs them, and the device decides. While the device tries `start` points
// (`seeds` and random ones), the model predicts the first `modelled` points, random ones; in each later round half of
// them are those that a forest, which learns the model, expects to be fast. What the model has not predicted yet has
// that forest's prediction. Each batch has the points that are expected to be fastest by the predictions and by how far
// the times so far were from them: half of it among the neighbours of the fastest points, as the forests say, half
// among all points, as they and the Gaussian process say in turn. The longer no best was accepted, the more of it are
// random, up to one in ten. Ends after `patience` batches without an accepted best (0: never), or when every point is
// tried.
class ModelGuided final : public Strategy {
 public:
  struct Settings {
    size_t start = 2;
    size_t batch = 2;
    size_t modelled = 32;
    size_t patience = 4;
  };
  static Settings persistent() { return {.patience = 0}; }

  // The model may be asked for the points in `unranked`. If it has ranked before, modelled() may also be called first.
  ModelGuided(const Grid& grid, uint64_t seed, std::vector<size_t> seeds, std::vector<size_t> unranked,
              Settings settings);
  ModelGuided(const ModelGuided&) = delete;  // model_ refers to the places of expected_
  ModelGuided& operator=(const ModelGuided&) = delete;
  std::vector<size_t> propose(const History& history) override;
  std::vector<size_t> to_model() override;
  void modelled(size_t point, std::optional<double> us) override;

 private:
  void learn_the_model();
  std::vector<size_t> liked_by_the_model(const History& history) const;  // untried, predicted fastest first

  const Grid& grid_;
  Random random_;
  std::vector<size_t> seeds_;
  Settings settings_;
  std::vector<size_t> unranked_;             // in random order
  std::vector<std::optional<double>> told_;  // for each point, the logarithm of the model's time
  bool news_ = false;                        // the model has said something since it was learnt
  bool over_ = false;
  size_t rounds_ = 0;              // in which the model was asked
  std::vector<double> predicted_;  // for each point, such a logarithm; empty: none is known
  Surrogate expected_;             // before model_
  Forest model_;
  std::optional<size_t> best_;
  size_t without_best_ = 0;  // batches
};

}  // namespace attnscope::search
