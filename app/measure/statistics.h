#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace attnscope::measure {

// The q-th quantile (0 to 1) of samples in ascending order, interpolated linearly between the two nearest (Hyndman and
// Fan's type 7). 0 of none.
double quantile(std::span<const double> ascending, double q);
double median(std::vector<double> samples);

// The two-sided 95 % point of Student's t with so many degrees of freedom, 1 or more. Between the entries of its table,
// and above them, it is the next lower entry's: a little too wide.
double student_t_95(size_t degrees);

struct Interval {
  double low = 0, high = 0;
  double half_width() const { return (high - low) / 2; }
  bool contains(double value) const { return low <= value && value <= high; }
  bool operator==(const Interval&) const = default;
};

// What separate runs of one config differ by although none of them can see it: no interval of a single run is given
// narrower than this share of the median to either side. Of an H200, whose runs lie within it 19 times of 20
// (tests/data/gpu/h200_measure.json); docs/measuring.md.
inline constexpr double kBetweenRuns = 0.00025;
Interval at_least(Interval interval, double centre, double half_width);

using Rounds = std::vector<std::vector<double>>;

// All samples of all rounds, ascending.
std::vector<double> pooled(const Rounds& rounds);

// The 95 % bootstrap interval of the median of all samples. Samples of one round share what that round drew (where its
// buffers lie in memory, the state of the clock), so whole rounds are drawn, with replacement: resampling single
// samples would take them for independent and give an interval that the next run falls outside of. The percentiles are
// those of the expanded percentile interval (T. Hesterberg, "What Teachers Should Know About the Bootstrap", The
// American Statistician 69(4), 2015, section 5.3), without which a few rounds give too narrow an interval. Below two
// rounds: the whole range of the samples. The same samples give the same interval: the draw has a fixed seed.
Interval bootstrap_median(const Rounds& rounds);

// Two timings compared: blocks in which both were timed one after the other.
struct Block {
  double a_us = 0, b_us = 0;  // medians of the block's samples
};
struct Comparison {
  double ratio = 1;         // of a's time to b's: the median of the blocks' ratios
  Interval interval{1, 1};  // 95 %, by bootstrapping the blocks
  int64_t blocks = 0;
  bool tie() const { return interval.contains(1); }
};
inline constexpr int64_t kFewestBlocks = 10;
Comparison compare_blocks(std::span<const Block> blocks);

// Two recordings that were not taken in turn: the ratio of their medians, each bootstrapped on its own by rounds, and
// what two runs differ by anyhow.
Comparison compare_rounds(const Rounds& a, const Rounds& b);

}  // namespace attnscope::measure
