#include "measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace attnscope::measure {
namespace {

constexpr int kResamples = 2000;
constexpr uint64_t kSeed = 0x9E3779B97F4A7C15u;

// std::uniform_int_distribution differs between standard libraries; the generator does not.
size_t below(std::mt19937_64& random, size_t bound) {
  return static_cast<size_t>(static_cast<double>(random() >> 11) * 0x1p-53 * static_cast<double>(bound));
}

// The lower percentile of the expanded interval over n drawn units; the upper one mirrors it.
double expanded_tail(size_t n) {
  const double z = student_t_95(n - 1) * std::sqrt(static_cast<double>(n) / static_cast<double>(n - 1));
  return 0.5 * std::erfc(z / std::sqrt(2.0));
}

Interval percentiles(std::vector<double>& statistics, size_t units) {
  std::sort(statistics.begin(), statistics.end());
  const double tail = expanded_tail(units);
  return {quantile(statistics, tail), quantile(statistics, 1 - tail)};
}

// All samples of all rounds in ascending order, each with its round. No round is empty. A resample of rounds is then
// one weight per round.
struct Sorted {
  std::vector<double> values;
  std::vector<uint32_t> round;
  size_t rounds = 0;

  explicit Sorted(const Rounds& from) : rounds(from.size()) {
    std::vector<std::pair<double, uint32_t>> all;
    for (size_t r = 0; r < from.size(); ++r)
      for (const double value : from[r]) all.emplace_back(value, static_cast<uint32_t>(r));
    std::sort(all.begin(), all.end());
    for (const auto& [value, of] : all) {
      values.push_back(value);
      round.push_back(of);
    }
  }

  // The median of the samples, each counted as often as its round was drawn. With an even number, the mean of the
  // middle two.
  double median_of(const std::vector<uint32_t>& drawn) const {
    size_t total = 0;
    for (const uint32_t of : round) total += drawn[of];
    const size_t low_rank = (total - 1) / 2, high_rank = total / 2;
    double low = 0;
    size_t passed = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t next = passed + drawn[round[i]];
      if (passed <= low_rank && low_rank < next) low = values[i];
      if (high_rank < next) return (low + values[i]) / 2;
      passed = next;
    }
    return values.back();
  }

  double resample(std::mt19937_64& random, std::vector<uint32_t>& drawn) const {
    drawn.assign(rounds, 0);
    for (size_t r = 0; r < rounds; ++r) ++drawn[below(random, rounds)];
    return median_of(drawn);
  }
};

Rounds without_empty(const Rounds& rounds) {
  Rounds kept;
  for (const auto& round : rounds)
    if (!round.empty()) kept.push_back(round);
  return kept;
}

}  // namespace

double student_t_95(size_t degrees) {
  // From NIST/SEMATECH's e-Handbook 1.3.6.7.2; any table has the same values.
  static constexpr std::pair<size_t, double> kTable[] = {
      {1, 12.706}, {2, 4.303},  {3, 3.182},  {4, 2.776},  {5, 2.571},  {6, 2.447},  {7, 2.365},  {8, 2.306},
      {9, 2.262},  {10, 2.228}, {11, 2.201}, {12, 2.179}, {13, 2.160}, {14, 2.145}, {15, 2.131}, {17, 2.110},
      {19, 2.093}, {24, 2.064}, {29, 2.045}, {40, 2.021}, {60, 2.000}, {120, 1.980}};
  double point = kTable[0].second;
  for (const auto& [n, value] : kTable)
    if (n <= degrees) point = value;
  return point;
}

double quantile(std::span<const double> ascending, double q) {
  if (ascending.empty()) return 0;
  const double at = q * static_cast<double>(ascending.size() - 1);
  const auto below_at = static_cast<size_t>(at);
  if (below_at + 1 >= ascending.size()) return ascending.back();
  return std::lerp(ascending[below_at], ascending[below_at + 1], at - static_cast<double>(below_at));
}

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return quantile(samples, 0.5);
}

Rounds thinned(const Rounds& rounds, size_t most) {
  size_t count = 0;
  for (const auto& round : rounds) count += round.size();
  const size_t step = std::max<size_t>(1, (count + most - 1) / most);
  Rounds kept;
  for (const auto& round : rounds) {
    auto& to = kept.emplace_back();
    for (size_t i = 0; i < round.size(); i += step) to.push_back(round[i]);
  }
  return kept;
}

std::vector<double> pooled(const Rounds& rounds) {
  std::vector<double> all;
  for (const auto& round : rounds) all.insert(all.end(), round.begin(), round.end());
  std::sort(all.begin(), all.end());
  return all;
}

Interval at_least(Interval interval, double centre, double half_width) {
  return {std::min(interval.low, centre - half_width), std::max(interval.high, centre + half_width)};
}

Interval bootstrap_median(const Rounds& rounds) {
  const Rounds taken = without_empty(rounds);
  const std::vector<double> all = pooled(taken);
  if (all.empty()) return {};
  if (taken.size() < 2) return {all.front(), all.back()};
  const Sorted sorted(taken);
  std::mt19937_64 random(kSeed);
  std::vector<uint32_t> drawn;
  std::vector<double> medians(kResamples);
  for (double& one : medians) one = sorted.resample(random, drawn);
  return percentiles(medians, taken.size());
}

Comparison compare_blocks(std::span<const Block> blocks) {
  Comparison comparison;
  comparison.blocks = static_cast<int64_t>(blocks.size());
  if (blocks.empty()) return comparison;
  std::vector<double> ratios;
  for (const Block& block : blocks) ratios.push_back(block.a_us / block.b_us);
  comparison.ratio = median(ratios);
  if (blocks.size() < 2) {
    comparison.interval = {comparison.ratio, comparison.ratio};
    return comparison;
  }
  std::mt19937_64 random(kSeed);
  std::vector<double> medians(kResamples), resample(ratios.size());
  for (double& one : medians) {
    for (double& ratio : resample) ratio = ratios[below(random, ratios.size())];
    one = median(resample);
  }
  comparison.interval = percentiles(medians, ratios.size());
  return comparison;
}

Comparison compare_rounds(const Rounds& a, const Rounds& b) {
  const Rounds of_a = without_empty(a), of_b = without_empty(b);
  Comparison comparison;
  comparison.blocks = static_cast<int64_t>(std::min(of_a.size(), of_b.size()));
  if (of_a.empty() || of_b.empty()) return comparison;
  const std::vector<double> all_a = pooled(of_a), all_b = pooled(of_b);
  comparison.ratio = quantile(all_a, 0.5) / quantile(all_b, 0.5);
  if (comparison.blocks < 2) {  // one block says nothing about the next: the interval is as wide as the samples allow
    comparison.interval = {all_a.front() / all_b.back(), all_a.back() / all_b.front()};
    return comparison;
  }
  const Sorted sorted_a(of_a), sorted_b(of_b);
  std::mt19937_64 random(kSeed);
  std::vector<uint32_t> drawn;
  std::vector<double> ratios(kResamples);
  for (double& ratio : ratios) {
    const double us = sorted_a.resample(random, drawn);
    ratio = us / sorted_b.resample(random, drawn);
  }
  comparison.interval = at_least(percentiles(ratios, static_cast<size_t>(comparison.blocks)), comparison.ratio,
                                 std::sqrt(2.0) * kBetweenRuns * comparison.ratio);
  return comparison;
}

}  // namespace attnscope::measure
