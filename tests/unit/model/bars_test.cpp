#include "model/bars.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "core/json.h"

namespace attnscope::model {
namespace {

constexpr int kMeasured = 90, kOther = 89;

// Half of its time is one term, half another.
Observation modelled(double us, TermKind one, TermKind other, int arch = kMeasured) {
  Observation made;
  made.experiment.kernel = "tiled";
  made.variant.emplace().arch = arch;
  made.timing = Timing{};
  made.timing->p50 = us;
  made.timing->terms = Terms{{{one, us / 2, {}}, {other, us / 2, {}}}, {}, ""};
  return made;
}

double width(const Paired& paired) { return std::log(paired.high / paired.low); }

TEST(Bars, HoldTheModelledTime) {
  for (const auto& [bound, word] : Words<Bound>::table)
    for (const bool traced : {false, true})
      for (const int arch : {kMeasured, kOther}) {
        const Bar bar = bar_of(bound, traced, arch);
        EXPECT_LE(bar.low, 1) << word;
        EXPECT_GE(bar.high, 1) << word;
        EXPECT_LT(bar.low, bar.high) << word;
      }
}

// The rows of which the bars are made, and the bars.
TEST(Bars, FourOfFiveMeasuredTimesLieInside) {
  const Json grid = Json::parse(std::ifstream(ATTNSCOPE_SOURCE_DIR "/tests/data/model/h200_grid.json"));
  int inside = 0, rows = 0;
  for (const Json& set : grid["sets"])
    for (const Json& row : set["rows"]) {
      const auto bound = parse_word<Bound>(row["bound"].get<std::string>());
      ASSERT_TRUE(bound) << row.dump();
      const Bar bar = bar_of(*bound, true, kMeasured);
      const double ratio = row["us"].get<double>() / row["modelled"].get<double>();
      inside += bar.low <= ratio && ratio <= bar.high ? 1 : 0;
      ++rows;
    }
  EXPECT_GE(rows, 500);
  EXPECT_GE(inside, 0.75 * rows);
  EXPECT_LE(inside, 0.85 * rows);
}

TEST(Bars, APairOfAlikeTimesHasTheNarrowestBar) {
  const Observation a = modelled(100, TermKind::issue, TermKind::fp32);
  const Paired alike = paired(a, modelled(110, TermKind::issue, TermKind::fp32));
  const Paired half = paired(a, modelled(110, TermKind::issue, TermKind::barriers));
  const Paired unlike = paired(a, modelled(110, TermKind::tensor_cores, TermKind::barriers));
  EXPECT_DOUBLE_EQ(alike.ratio, 1.1);
  EXPECT_LT(width(alike), width(half));
  EXPECT_LE(width(half), width(unlike));
  EXPECT_TRUE(alike.told_apart());
  EXPECT_FALSE(unlike.told_apart());
  Observation without = a;
  without.timing->terms.reset();
  EXPECT_DOUBLE_EQ(width(paired(a, without)), width(unlike)) << "nothing says that they err alike";
}

TEST(Bars, WhereNothingWasMeasuredAPairsBarIsWider) {
  const Paired here =
      paired(modelled(100, TermKind::issue, TermKind::fp32), modelled(110, TermKind::issue, TermKind::fp32));
  const Paired there = paired(modelled(100, TermKind::issue, TermKind::fp32, kOther),
                              modelled(110, TermKind::issue, TermKind::fp32, kOther));
  EXPECT_NEAR(width(there), 1.5 * width(here), 1e-9);
}

TEST(Bars, OrderChangesNothing) {
  const Observation a = modelled(100, TermKind::issue, TermKind::fp32),
                    b = modelled(130, TermKind::issue, TermKind::fp32);
  EXPECT_NEAR(paired(a, b).low, 1 / paired(b, a).high, 1e-12);
  EXPECT_TRUE(paired(a, b).told_apart());
  EXPECT_TRUE(paired(b, a).told_apart());
}

TEST(Bars, OfTwoKernelsTheTermsDoNotMatter) {
  Observation a = modelled(100, TermKind::issue, TermKind::fp32), b = modelled(200, TermKind::issue, TermKind::fp32);
  b.experiment.kernel = "mma";
  EXPECT_DOUBLE_EQ(paired(a, b).high, paired(100, 200, kMeasured).high);
}

}  // namespace
}  // namespace attnscope::model
