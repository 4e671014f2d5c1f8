#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "search/strategy.h"
#include "search/t4.h"

namespace attnscope::search {

// The score by which tuners are compared (arXiv 2509.26300): P = (random - F) / (random - best), averaged over the
// budget. F is the best time that a strategy has found so far, `random` what random configs find on average after as
// many evaluations, `best` the best of the space. 1: it knew the best at once; 0: no better than random; below 0:
// worse.
//
// What was not found yet, or is invalid, counts as the slowest valid time of the space. The budget ends where random
// configs have come to within 5 % of the way from the median to the best.

// random's expected best after 1, 2, … evaluations, without repetition, up to the budget's end; ms.
std::vector<double> random_curve(const Recorded& space);

// The strategy's best after each evaluation, as long as `random_curve`; ms.
std::vector<double> replay(const Recorded& space, Strategy& strategy, size_t evaluations);

// What a config takes on average to compile, run and check, s; 0: the recording does not say.
double mean_seconds(const Recorded& space);

// The strategy's best at `moments` moments, mean_seconds() apart, at which random configs have come to as many
// evaluations on average; ms. A config's time is known when it was compiled, run and checked. The strategy's own time
// is not in it. Empty: the recording has no times.
std::vector<double> replay_in_time(const Recorded& space, Strategy& strategy, size_t moments);

double score(const Recorded& space, const std::vector<double>& found, const std::vector<double>& random);

enum class Budget { evaluations, seconds };

struct Scored {
  double mean = 0, low = 0, high = 0;  // 95 % interval of the mean, from the spread of the repeats
};
// Over repeats with the seeds 1, 2, …
Scored score_of(const Recorded& space, size_t repeats,
                const std::function<std::unique_ptr<Strategy>(const Grid& grid, uint64_t seed)>& make,
                Budget budget = Budget::evaluations);

}  // namespace attnscope::search
