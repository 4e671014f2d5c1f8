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

enum class StrategyKind { exhaustive, random, evolutionary, local, learning, model_guided, halving };

}  // namespace search

template <>
struct Words<search::StrategyKind> {
  using enum search::StrategyKind;
  static constexpr WordTable<search::StrategyKind, 7> table{{{exhaustive, "exhaustive"},
                                                             {random, "random"},
                                                             {evolutionary, "evolutionary"},
                                                             {local, "local"},
                                                             {learning, "learning"},
                                                             {model_guided, "model-guided"},
                                                             {halving, "halving"}}};
};

namespace search {

// Chooses which points of a grid to try. The same grid, settings and outcomes always give the same choices.
class Strategy {
 public:
  virtual ~Strategy() = default;
  // The points to try next, without duplicates and none of them tried before. Empty: the search is over.
  virtual std::vector<size_t> propose(const History& history) = 0;
  // The points that a model should predict while those are tried, without duplicates and none of them asked before.
  // Empty: it needs no model, or no more of it.
  virtual std::vector<size_t> to_model() { return {}; }
  // What the model says of such a point, us; empty: it rejects the point.
  virtual void modelled(size_t /*point*/, std::optional<double> /*us*/) {}
};

// Every point, in the grid's order.
class Exhaustive final : public Strategy {
 public:
  explicit Exhaustive(const Grid& grid) : grid_(grid) {}
  std::vector<size_t> propose(const History& history) override;

 private:
  const Grid& grid_;
};

// These points, in this order.
class Listed final : public Strategy {
 public:
  explicit Listed(std::vector<size_t> points) : points_(std::move(points)) {}
  std::vector<size_t> propose(const History& history) override;

 private:
  std::vector<size_t> points_;
};

// Every point, in a random order.
class RandomOrder final : public Strategy {
 public:
  RandomOrder(const Grid& grid, uint64_t seed);
  std::vector<size_t> propose(const History& history) override;

 private:
  std::vector<size_t> order_;
};

// The reports' search. Generation 0 is all of `seeds`, and random points. In each later generation all but `immigrants`
// random points are mutations of the survivors, the fastest points so far. A mutation moves one knob, up to `radius`
// times, to the next value up or down that has a point that was not rejected. After `patience` generations without an
// accepted best the search ends or, with `restarts`, starts again with a new generation 0 of random points and
// survivors of its own.
class Evolutionary final : public Strategy {
 public:
  struct Settings {
    size_t start = 8;  // points of generation 0
    size_t population = 8;
    size_t survivors = 4;
    size_t radius = 2;
    size_t immigrants = 1;
    size_t patience = 3;
    bool restarts = false;
  };
  // Settings for a search that should use up its budget.
  static Settings persistent() { return {.start = 16, .immigrants = 2, .patience = 10, .restarts = true}; }

  Evolutionary(const Grid& grid, uint64_t seed, std::vector<size_t> seeds, Settings settings);
  std::vector<size_t> propose(const History& history) override;

 private:
  size_t mutated(size_t parent, const History& history);

  const Grid& grid_;
  Random random_;
  std::vector<size_t> seeds_;
  Settings settings_;
  size_t began_ = 0;  // number of outcomes before its last generation 0
  std::optional<size_t> best_;
  size_t without_best_ = 0;  // generations
};

// Searches neighbourhoods of the fastest points, best first. Starts with `start` points (`seeds` and random ones). Then
// tries, in random order, the next points up and down each axis from the fastest point whose neighbourhood was not
// tried yet, skipping rejected ones. A new fastest point is followed at once. On average every `stray`th neighbourhood
// is replaced by random points, which find slopes that no fast point lies on. Ends after `patience` batches without an
// accepted best (0: never), or when every point is tried.
class Local final : public Strategy {
 public:
  struct Settings {
    size_t start = 16;
    size_t batch = 4;
    size_t stray = 8;
    size_t patience = 8;
  };
  static Settings persistent() { return {.patience = 0}; }
  // Settings for an early answer from good seeds.
  static Settings brief() { return {.start = 6, .patience = 3}; }

  Local(const Grid& grid, uint64_t seed, std::vector<size_t> seeds, Settings settings);
  std::vector<size_t> propose(const History& history) override;

 private:
  // A direction: from a point along an axis, past rejected points.
  struct Way {
    size_t from = 0, axis = 0;
    bool up = false;
  };
  void open(size_t point);  // makes its neighbourhood the next one
  std::vector<size_t> from_open(const History& history);

  const Grid& grid_;
  Random random_;
  std::vector<size_t> seeds_;
  Settings settings_;
  std::vector<Way> open_;          // of the current neighbourhood; the last one is next
  std::vector<Way> under_way_;     // those that led to the points of the last batch
  std::vector<bool> opened_;       // for each point
  std::optional<size_t> fastest_;  // when last checked
  std::optional<size_t> best_;
  size_t without_best_ = 0;  // batches
};

// Creates a strategy that needs neither predictions nor a limit on samples (halving.h); null for one that does.
// `seeds`: points to start from, if the strategy uses any. With a budget it continues until that is used up. A batch
// may have as many points as can run `at_once`.
std::unique_ptr<Strategy> strategy_without_model(StrategyKind kind, const Grid& grid, uint64_t seed,
                                                 std::vector<size_t> seeds, bool has_budget, size_t at_once = 1);

}  // namespace search
}  // namespace attnscope
