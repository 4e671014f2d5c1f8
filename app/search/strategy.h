#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "core/words.h"
#include "search/grid.h"
#include "search/history.h"
#include "search/random.h"

namespace attnscope {
namespace search {

enum class StrategyKind { exhaustive, random, evolutionary, model_guided };

}  // namespace search

template <>
struct Words<search::StrategyKind> {
  using enum search::StrategyKind;
  static constexpr WordTable<search::StrategyKind, 4> table{
      {{exhaustive, "exhaustive"}, {random, "random"}, {evolutionary, "evolutionary"}, {model_guided, "model-guided"}}};
};

namespace search {

// Chooses which points of a grid to try. The same grid, settings and outcomes always give the same choices.
class Strategy {
 public:
  virtual ~Strategy() = default;
  // The points to try next, none of them tried before and each once. Empty: the search is over.
  virtual std::vector<size_t> propose(const History& history) = 0;
};

// Every point, in the grid's order.
class Exhaustive final : public Strategy {
 public:
  explicit Exhaustive(const Grid& grid) : grid_(grid) {}
  std::vector<size_t> propose(const History& history) override;

 private:
  const Grid& grid_;
};

// Every point, in a random order.
class RandomOrder final : public Strategy {
 public:
  RandomOrder(const Grid& grid, uint64_t seed);
  std::vector<size_t> propose(const History& history) override;

 private:
  std::vector<size_t> order_;
};

// The reports' search: generation 0 is `seeds` and random points; each later one mutates the survivors, the fastest so
// far. A mutation moves up to `radius` knobs to the next value up or down. It ends after `patience` generations without
// an accepted best, or when no mutation is left to try.
class Evolutionary final : public Strategy {
 public:
  struct Settings {
    size_t population = 8;
    size_t survivors = 4;
    size_t radius = 2;
    size_t patience = 3;
  };
  Evolutionary(const Grid& grid, uint64_t seed, std::vector<size_t> seeds, Settings settings);
  std::vector<size_t> propose(const History& history) override;

 private:
  std::optional<size_t> mutated(size_t parent);
  void fill_with_random(std::vector<size_t>& generation, const History& history);

  const Grid& grid_;
  Random random_;
  std::vector<size_t> seeds_;
  Settings settings_;
  size_t generation_ = 0;
  std::optional<size_t> best_;
  size_t without_best_ = 0;  // generations
};

// A model ranks, the device decides: batches of the points that are predicted fastest. Once a best is accepted, half of
// a batch are its neighbours (one knob differs), those predicted fastest first. It ends after `patience` batches
// without a newly accepted best.
class ModelGuided final : public Strategy {
 public:
  struct Settings {
    size_t batch = 4;
    size_t patience = 2;
  };
  // `predicted`: of each point, us; a point without one comes last.
  ModelGuided(const Grid& grid, std::vector<std::optional<double>> predicted, Settings settings);
  std::vector<size_t> propose(const History& history) override;

 private:
  const Grid& grid_;
  std::vector<size_t> order_;  // the points, predicted fastest first
  std::vector<size_t> rank_;   // of each point in order_
  Settings settings_;
  std::optional<size_t> best_;
  size_t without_best_ = 0;  // batches
};

}  // namespace search
}  // namespace attnscope
