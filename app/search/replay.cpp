#include "search/replay.h"

#include <algorithm>
#include <cmath>

#include "search/search.h"

namespace attnscope::search {
namespace {

constexpr double kEnough = 0.05;  // share of the way from the median to the best

// Every config's time, ascending; an invalid config counts as the slowest.
std::vector<double> sorted_times(const Recorded& space) {
  std::vector<double> times;
  for (const Recorded::Run& run : space.runs)
    if (run.ms) times.push_back(*run.ms);
  std::ranges::sort(times);
  if (!times.empty()) times.resize(space.runs.size(), times.back());
  return times;
}

// The model predicts those points; the seconds of one core that it takes.
double predict(const Recorded& space, Strategy& strategy, const std::vector<size_t>& points) {
  double seconds = 0;
  for (const size_t point : points) {
    const Recorded::Run& run = space.runs.at(point);
    seconds += run.modelling_seconds;
    strategy.modelled(point, run.modelled_ms ? std::optional(*run.modelled_ms * 1000) : std::nullopt);
  }
  return seconds;
}

// The mean of the smallest of `count` times drawn without repetition. The probability that the i-th is the smallest
// follows from the previous one.
double expected_least(const std::vector<double>& times, size_t count) {
  const auto all = static_cast<double>(times.size()), drawn = static_cast<double>(count);
  double mean = 0, chance = drawn / all;
  for (size_t i = 0; i + count <= times.size(); ++i) {
    mean += chance * times[i];
    const double left = all - static_cast<double>(i) - 1;
    if (left > 0) chance *= (left - drawn + 1) / left;
  }
  return mean;
}

Scored interval_of(const std::vector<double>& scores) {
  const auto count = static_cast<double>(scores.size());
  double sum = 0, squares = 0;
  for (const double one : scores) {
    sum += one;
    squares += one * one;
  }
  const double mean = sum / count;
  const double variance = scores.size() > 1 ? std::max(0.0, (squares - count * mean * mean) / (count - 1)) : 0;
  const double half = 1.96 * std::sqrt(variance / count);
  return {mean, mean - half, mean + half};
}

}  // namespace

std::vector<double> random_curve(const Recorded& space) {
  const std::vector<double> times = sorted_times(space);
  std::vector<double> curve;
  if (times.empty()) return curve;
  const double best = times.front(), median = times[times.size() / 2];
  const double enough = best + kEnough * (median - best);
  for (size_t count = 1; count <= times.size(); ++count) {
    curve.push_back(expected_least(times, count));
    if (curve.back() <= enough) break;
  }
  return curve;
}

bool has_modelling_seconds(const Recorded& space) {
  return std::ranges::all_of(space.runs,
                             [](const Recorded::Run& run) { return !run.modelled_ms || run.modelling_seconds > 0; });
}

double mean_seconds(const Recorded& space) {
  double sum = 0;
  for (const Recorded::Run& run : space.runs) sum += run.seconds;
  return space.runs.empty() ? 0 : sum / static_cast<double>(space.runs.size());
}

Found replay(const Recorded& space, Strategy& strategy, size_t evaluations, size_t cores) {
  constexpr double kRounding = 1e-9;
  const std::vector<double> times = sorted_times(space);
  Found found;
  if (times.empty()) return found;
  const double step = mean_seconds(space);
  const size_t moments = step > 0 ? evaluations : 0;
  History history(space.grid.size());
  double least = times.back(), clock = 0;
  const auto go_to = [&](double moment) {
    clock = std::max(clock, moment);
    while (found.at.size() < moments && step * static_cast<double>(found.at.size() + 1) < clock * (1 - kRounding))
      found.at.push_back(least);
  };
  while (found.after.size() < evaluations || found.at.size() < moments) {
    const std::vector<size_t> points = strategy.propose(history), asked = strategy.to_model();
    if (points.empty() && asked.empty()) break;
    const double predicted = clock + predict(space, strategy, asked) / static_cast<double>(cores);
    for (const size_t point : points) {
      const Recorded::Run& run = space.runs.at(point);
      go_to(clock + run.seconds);  // its time is known only then
      history.tell({point, run.ms ? std::optional(*run.ms * 1000) : std::nullopt});
      least = std::min(least, run.ms.value_or(least));
      if (found.after.size() < evaluations) found.after.push_back(least);
    }
    go_to(predicted);
  }
  found.after.resize(evaluations, least);  // later evaluations keep the best
  found.at.resize(moments, least);
  return found;
}

double score(const Recorded& space, const std::vector<double>& found, const std::vector<double>& random) {
  const std::vector<double> times = sorted_times(space);
  double sum = 0;
  size_t count = 0;
  for (size_t at = 0; at < std::min(found.size(), random.size()); ++at) {
    if (!(random[at] > times.front())) continue;  // random search has certainly found the best by now
    sum += (random[at] - found[at]) / (random[at] - times.front());
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

Scores score_of(const Recorded& space, size_t repeats, const MakeStrategy& make, size_t cores, size_t first) {
  const std::vector<double> random = random_curve(space);
  const double best = sorted_times(space).at(0);
  std::vector<double> evaluations, seconds;
  Scores scores;
  for (uint64_t seed = 1; seed <= repeats; ++seed) {
    const auto strategy = make(space.grid, seed);
    const Found found = replay(space, *strategy, std::max(random.size(), first), cores);
    evaluations.push_back(score(space, found.after, random));
    if (!found.at.empty()) seconds.push_back(score(space, found.at, random));
    scores.short_of_best.push_back(found.after.at(first - 1) / best - 1);
  }
  std::ranges::sort(scores.short_of_best);
  scores.evaluations = interval_of(evaluations);
  if (!seconds.empty()) scores.seconds = interval_of(seconds);
  return scores;
}

}  // namespace attnscope::search
