#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "search/strategy.h"
#include "search/t4.h"

namespace attnscope::search {

// The score by which tuners are compared (arXiv 2509.26300): P = (random - F) / (random - best), averaged over the
// budget. F is the best time that a strategy has found so far, `random` what random configs find on average after as
// many evaluations, `best` the best of the space. 1: the best was found at once; 0: no better than random; below 0:
// worse.
//
// A config that is invalid or was not found yet counts as the slowest valid time of the space. The budget ends when
// random configs are within 5 % of the way from the median to the best.

// random's expected best after 1, 2, … evaluations without repetition, up to the end of the budget; ms.
std::vector<double> random_curve(const Recorded& space);

// The average time to compile, run and check a config, s; 0: not recorded.
double mean_seconds(const Recorded& space);

// True if the recording says what each of its modelled times took.
bool has_modelling_seconds(const Recorded& space);

// What a strategy found, ms.
struct Found {
  std::vector<double> after;  // 1, 2, … evaluations: its best
  // Its best at moments that are mean_seconds() apart, at which random configs have made that many evaluations on
  // average. A config's time is known when it has been compiled, run and checked. A model predicts on `cores` cores
  // while the configs of a batch run; the next batch waits for both. The strategy's own time is not included. Empty:
  // the recording has no times.
  std::vector<double> at;
};
Found replay(const Recorded& space, Strategy& strategy, size_t evaluations, size_t cores = 1);

double score(const Recorded& space, const std::vector<double>& found, const std::vector<double>& random);

using MakeStrategy = std::function<std::unique_ptr<Strategy>(const Grid& grid, uint64_t seed)>;

struct Scored {
  double mean = 0, low = 0, high = 0;  // 95 % interval of the mean, from the spread of the repeats
};
struct Scores {
  Scored evaluations;
  std::optional<Scored> seconds;  // empty: the recording has no times
  // How far the best of the first `first` configs is from the space's best, as a share of it, in each repeat,
  // ascending.
  std::vector<double> short_of_best;
};
// The scores over repeats with the seeds 1, 2, …, each of which is replayed once. `cores`: as of Found::at.
Scores score_of(const Recorded& space, size_t repeats, const MakeStrategy& make, size_t cores = 1, size_t first = 10);

}  // namespace attnscope::search
