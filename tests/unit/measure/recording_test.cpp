// The statistics compared with timings from an H200: tests/data/gpu/h200_measure.json, made by tests/gpu/acceptance.py.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "core/json.h"
#include "measure/statistics.h"

namespace attnscope::measure {
namespace {

Json recording() {
  std::ifstream in(std::string(ATTNSCOPE_SOURCE_DIR) + "/tests/data/gpu/h200_measure.json");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return parse_json(text, "h200_measure.json").value();
}

Interval interval_of(const Rounds& rounds) {
  const double middle = quantile(pooled(rounds), 0.5);
  return at_least(bootstrap_median(rounds), middle, kBetweenRuns * middle);
}

TEST(RecordedRuns, EighteenOfTwentyIntervalsContainThePooledMedian) {
  const Json all = recording();
  for (const auto& [name, config] : all["repeatability"].items()) {
    SCOPED_TRACE(name);
    std::vector<double> every;
    for (const Json& run : config["rounds_us"])
      for (const double us : pooled(run.get<Rounds>())) every.push_back(us);
    const double middle = median(every);
    int inside = 0;
    for (size_t run = 0; run < config["rounds_us"].size(); ++run) {
      const Interval ours = interval_of(config["rounds_us"][run].get<Rounds>());
      inside += ours.contains(middle);
      // The recording equals what the program computed there, except that samples are kept to a tenth of a nanosecond.
      EXPECT_NEAR(ours.low, config["interval_us"][run][0].get<double>(), 2e-4);
      EXPECT_NEAR(ours.high, config["interval_us"][run][1].get<double>(), 2e-4);
    }
    EXPECT_EQ(config["rounds_us"].size(), 20u);
    EXPECT_GE(inside, 18);
  }
}

TEST(RecordedRuns, TwoRunsOfOneConfigAreATieAndOfTwoConfigsAreNot) {
  const Json all = recording()["repeatability"];
  for (const auto& [name, config] : all.items()) {
    int ties = 0;
    for (size_t run = 0; run + 1 < 20; run += 2)
      ties += compare_rounds(config["rounds_us"][run].get<Rounds>(), config["rounds_us"][run + 1].get<Rounds>()).tie();
    EXPECT_GE(ties, 9) << name << ": of 10 pairs";
  }
  Rounds slower = all["tiled NUM_WARPS=8, hot"]["rounds_us"][0].get<Rounds>();
  const Rounds other = all["tiled NUM_WARPS=8, hot"]["rounds_us"][1].get<Rounds>();
  for (auto& round : slower)
    for (double& us : round) us *= 1.002;
  EXPECT_FALSE(compare_rounds(slower, other).tie()) << "a fifth of a percent";
}

TEST(RecordedRuns, InTurnAnEqualPairIsATieAndTwoPercentIsNot) {
  const Json all = recording();
  const auto holds = [](const Json& compared, size_t run) {
    return Interval{compared["intervals"][run][0].get<double>(), compared["intervals"][run][1].get<double>()}.contains(
        1);
  };
  int ties = 0;
  for (size_t run = 0; run < 20; ++run) ties += holds(all["a_against_a"], run);
  EXPECT_GE(ties, 19);
  for (size_t run = 0; run < all["a_against_2_percent_slower"]["intervals"].size(); ++run)
    EXPECT_FALSE(holds(all["a_against_2_percent_slower"], run));
}

TEST(RecordedRuns, OtherInstrumentsAgree) {
  const Json all = recording();
  for (const Json& one : all["truths"]["cases"]) {
    SCOPED_TRACE(one["kernel"].get<std::string>() + " " + one["problem"].get<std::string>());
    // Nsight Compute times a kernel by itself, from start to end: about a microsecond more than each of a graph's
    // kernels, which follow each other directly. At 27 us that exceeds the 2 % that hold from 50 us on.
    const double hot = one["hot_us"].get<double>(), nsight = one["nsight_none_us"].get<double>();
    EXPECT_NEAR(hot, nsight, hot > 50 ? 0.02 * nsight : 1.5);
    EXPECT_NEAR(one["cold_us"].get<double>() / one["do_bench_us"].get<double>(), 1, 0.05);
  }
}

}  // namespace
}  // namespace attnscope::measure
