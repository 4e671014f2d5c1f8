#include "search/halving.h"

#include <algorithm>
#include <numeric>

#include "search/random.h"

namespace attnscope::search {

std::vector<int64_t> halving_rounds(size_t points, int64_t least, int64_t most) {
  std::vector<int64_t> rounds;
  for (int64_t ms = least; points > 1 && 2 * ms <= most; ms *= 2, points = (points + 1) / 2) rounds.push_back(ms);
  rounds.push_back(most);
  return rounds;
}

std::vector<size_t> better_half(const std::vector<Outcome>& outcomes, const ToldApart& told_apart) {
  std::vector<Outcome> timed;
  std::ranges::copy_if(outcomes, std::back_inserter(timed), [](const Outcome& one) { return one.us.has_value(); });
  std::ranges::stable_sort(timed, {}, [](const Outcome& one) { return *one.us; });
  std::vector<size_t> kept;
  const size_t half = (timed.size() + 1) / 2;
  for (size_t at = 0; at < timed.size(); ++at)
    if (at < half || *timed[at].us == *timed[half - 1].us ||
        (told_apart && !told_apart(timed[at].point, timed[half - 1].point)))
      kept.push_back(timed[at].point);
  return kept;
}

std::vector<size_t> entrants(const Grid& grid, uint64_t seed, size_t most) {
  std::vector<size_t> points(grid.size());
  std::iota(points.begin(), points.end(), size_t{0});
  if (most == 0 || most >= points.size()) return points;
  Random(seed).shuffle(points);
  points.resize(most);
  std::ranges::sort(points);
  return points;
}

}  // namespace attnscope::search
