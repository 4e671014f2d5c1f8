#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace attnscope::measure {

// The q-th quantile (0 to 1) of samples in ascending order, interpolated linearly between the two nearest (Hyndman and
// Fan's type 7). 0 if there are none.
double quantile(std::span<const double> ascending, double q);
double median(std::vector<double> samples);

// The two-sided 95 % point of Student's t for 1 or more degrees of freedom. Between and above the entries of its table
// it uses the next lower entry, which gives a slightly too wide interval.
double student_t_95(size_t degrees);

struct Interval {
  double low = 0, high = 0;
  double half_width() const { return (high - low) / 2; }
  bool contains(double value) const { return low <= value && value <= high; }
  bool operator==(const Interval&) const = default;
};

// How far separate runs of one config differ, which a single run cannot show: its interval is never narrower than this
// share of the median to either side. From an H200, where 19 of 20 runs lie within it
// (tests/data/gpu/h200_measure.json); see docs/measuring.md.
inline constexpr double kBetweenRuns = 0.00025;
Interval at_least(Interval interval, double centre, double half_width);

using Rounds = std::vector<std::vector<double>>;

// Every n-th sample of each round, where n is the number of samples over `most`, rounded up.
Rounds thinned(const Rounds& rounds, size_t most);

// All samples of all rounds, ascending.
std::vector<double> pooled(const Rounds& rounds);

// The 95 % bootstrap interval of the median of all samples. Samples of one round share its conditions (the buffers'
// placement in memory, the state of the clock), so whole rounds are drawn, with replacement. Resampling single samples
// would treat them as independent and give an interval that the next run misses. The percentiles are those of the
// expanded percentile interval (T. Hesterberg, "What Teachers Should Know About the Bootstrap", The American
// Statistician 69(4), 2015, section 5.3), because with few rounds the plain interval is too narrow. With fewer than two
// rounds: the whole range of the samples. The draw has a fixed seed, so that the same samples give the same interval.
Interval bootstrap_median(const Rounds& rounds);

// One block of a comparison, in which a and b were timed one after the other.
struct Block {
  double a_us = 0, b_us = 0;  // medians of the block's samples
};
struct Comparison {
  double ratio = 1;         // a's time over b's: the median of the blocks' ratios
  Interval interval{1, 1};  // 95 %, from a bootstrap over the blocks
  int64_t blocks = 0;
  bool tie() const { return interval.contains(1); }
};
inline constexpr int64_t kFewestBlocks = 10;
Comparison compare_blocks(std::span<const Block> blocks);

// Compares two recordings that were not taken in turn: the ratio of their medians, each bootstrapped by rounds, widened
// by how far separate runs differ.
Comparison compare_rounds(const Rounds& a, const Rounds& b);

}  // namespace attnscope::measure
