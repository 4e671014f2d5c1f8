#pragma once
#include <optional>
#include <vector>

#include "search/strategy.h"
#include "search/surrogate.h"

namespace attnscope::search {

// A forest and a Gaussian process learn from what ran, and the device decides: after `start` points (`seeds` and random
// ones) each batch has the points that the forest expects to be fast or knows little of. Half of them are neighbours of
// the fastest points (one knob differs), of which every second time one is the next value up or down of any knob, for
// the forest may be wrong about it. Half are from anywhere, as the process and the forest say in turn; the longer no
// best was accepted, the more of these are random, for both know only what they have seen. It ends after `patience`
// batches without an accepted best (0: never), or when every point is tried.
class Learning final : public Strategy {
 public:
  struct Settings {
    size_t start = 8;
    size_t batch = 2;
    size_t patience = 16;
  };
  static Settings persistent() { return {.patience = 0}; }

  Learning(const Grid& grid, uint64_t seed, std::vector<size_t> seeds, Settings settings);
  std::vector<size_t> propose(const History& history) override;

 private:
  const Grid& grid_;
  Random random_;
  std::vector<size_t> seeds_;
  Settings settings_;
  Surrogate expected_;
  std::optional<size_t> best_;
  size_t without_best_ = 0;  // batches
};

}  // namespace attnscope::search
