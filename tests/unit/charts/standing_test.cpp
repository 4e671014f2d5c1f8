#include "charts/standing.h"

#include <gtest/gtest.h>

#include "charts/latency_chart.h"
#include "charts/tables.h"

namespace attnscope::charts {
namespace {

// Its interval is ±1 %.
Observation timed(double us, FigureKind kind = FigureKind::measured) {
  Observation made;
  made.experiment.device = "cuda:0";
  made.timing = Timing{};
  made.timing->kind = kind;
  made.timing->p50 = us;
  made.timing->interval_low = us * 0.99;
  made.timing->interval_high = us * 1.01;
  return made;
}

struct Case {
  Outcome outcome;
  const char* verdict;
  const char* change;
  Observation a, b;
};

Observation with(Observation made, void (*change)(Observation&)) {
  change(made);
  return made;
}

TEST(Standing, IsFasterSlowerATieOrNotComparable) {
  const Observation plain = timed(100);
  const std::vector<Case> cases = {
      {Outcome::faster, "faster, \u221220.0 %", "\u221220.0 %", plain, timed(80)},
      {Outcome::slower, "slower, +20.0 %", "+20.0 %", plain, timed(120)},
      {Outcome::tie, "cannot be told apart", "the same", plain, plain},
      {Outcome::tie, "cannot be told apart (+1.5 %)", "a tie (+1.5 %)", plain, timed(101.5)},
      {Outcome::tie, "cannot be told apart (+1.5 %)", "a tie (+1.5 %)", timed(100, FigureKind::modelled),
       timed(101.5, FigureKind::modelled)},
      {Outcome::slower, "slower, +300.0 %", "+300.0 %", timed(100, FigureKind::modelled),
       timed(400, FigureKind::modelled)},
      {Outcome::not_comparable, "not comparable: another operation", "not comparable", plain,
       with(timed(80), [](Observation& o) { o.experiment.problem.kind = ProblemKind::gemm; })},
      {Outcome::not_comparable, "not comparable: another problem", "not comparable", plain,
       with(timed(80), [](Observation& o) { o.experiment.problem.seq_q += 1; })},
      {Outcome::not_comparable, "not comparable: another device", "not comparable", plain,
       with(timed(80), [](Observation& o) { o.experiment.device = "cuda:1"; })},
      {Outcome::not_comparable, "not comparable: another device", "not comparable", plain,
       with(timed(80), [](Observation& o) { o.versions.gpu = "L4"; })},
      {Outcome::not_comparable, "not comparable: another cache policy", "not comparable", plain,
       with(timed(80), [](Observation& o) { o.experiment.measure.cache = CacheState::cold; })},
      {Outcome::not_comparable, "not comparable: another kind of figure", "not comparable", plain,
       timed(80, FigureKind::modelled)},
      {Outcome::not_comparable, "not comparable: another version's model", "not comparable",
       timed(100, FigureKind::modelled),
       with(timed(80, FigureKind::modelled), [](Observation& o) { o.versions.app = "9.9"; })},
      {Outcome::not_comparable, "not comparable: no time", "not comparable", plain,
       with(timed(80), [](Observation& o) { o.timing.reset(); })},
  };
  for (const Case& one : cases) {
    const Standing standing = standing_of(one.a, one.b);
    EXPECT_EQ(standing.outcome, one.outcome) << one.verdict;
    EXPECT_EQ(verdict_text(standing), one.verdict);
    EXPECT_EQ(change_text(standing), one.change) << one.verdict;
    EXPECT_EQ(better(standing), one.outcome == Outcome::faster ? 1 : one.outcome == Outcome::slower ? -1 : 0);
    EXPECT_EQ(standing.ratio == 1, one.outcome == Outcome::not_comparable || one.a == one.b) << one.verdict;
  }
}

// The table of the comparison and the headline say the same as the strip.
TEST(Standing, TheTableOfTwoRunsSaysTheSame) {
  const ComparedRow tie = compare(timed(100), timed(101.5)).front();
  EXPECT_EQ(tie.change, "a tie (+1.5 %)");
  EXPECT_EQ(tie.better, 0);
  EXPECT_EQ(compare(timed(100), timed(80)).front().better, 1);
  EXPECT_EQ(compare(timed(100), timed(80, FigureKind::modelled)).front().change, "not comparable");
}

TEST(Standing, CountsStandSideBySideOnlyForTheSameWork) {
  const Observation plain = timed(100);
  EXPECT_TRUE(same_work(plain, timed(80, FigureKind::modelled)));
  EXPECT_TRUE(same_work(plain, with(timed(80), [](Observation& o) { o.timing.reset(); })));
  EXPECT_FALSE(same_work(plain, with(timed(80), [](Observation& o) { o.experiment.problem.seq_q += 1; })));
  EXPECT_FALSE(same_work(plain, with(timed(80), [](Observation& o) { o.experiment.device = "cuda:1"; })));
}

charts::Run run(uint64_t id, Observation seen) { return {id, std::make_shared<Observation>(std::move(seen)), "", ""}; }

TEST(Baseline, APinnedRunIsAWhateverLiesBetween) {
  LatencyChart chart;
  const std::vector<charts::Run> runs = {run(1, timed(100)), run(2, timed(90)), run(3, timed(80)),
                                         run(4, timed(70, FigureKind::modelled))};
  append(chart, runs);
  EXPECT_EQ(delta_of(chart, 2)->run, 2u);
  EXPECT_EQ(delta_of(chart, 2, 1)->run, 1u);
  EXPECT_EQ(delta_of(chart, 2, 1)->text, "\u221220.0 %");
  EXPECT_EQ(delta_of(chart, 0, 3)->run, 3u) << "a later run too";
  EXPECT_EQ(delta_of(chart, 2, 4)->against, "with run 4: another kind of figure");
  EXPECT_FALSE(delta_of(chart, 2, 3)) << "it is A itself";
  EXPECT_EQ(delta_of(chart, 2, 99)->run, 2u) << "a run that is not in the history pins nothing";
}

TEST(Baseline, ARunWithoutATimeHasTheLastTimedOneAsA) {
  LatencyChart chart;
  Observation failed;
  failed.failure = Failure{Stage::limits, "does not fit", ""};
  const std::vector<charts::Run> runs = {run(1, timed(100)), run(2, failed), run(3, failed)};
  append(chart, runs);
  EXPECT_EQ(baseline_of(chart, 2, failed, 0), 0u);
  EXPECT_EQ(baseline_of(chart, 0, failed, 0), std::nullopt);
}

TEST(CounterGroups, StandBesideThoseOfTheBaseline) {
  Counters a, b;
  a.instructions = {{"total", 30}, {"float", 20}, {"tensor", 10}};
  b.instructions = {{"total", 25}, {"float", 20}, {"shared_load", 5}};
  a.shared_bank_conflicts = 1234;
  const auto groups = counter_groups(b, &a);
  std::string text;
  for (const FigureRow& row : groups.front().rows) text += row.name + " " + row.value + " " + row.baseline + "\n";
  EXPECT_EQ(text, "total 25 30\nfloat 20 20\nshared load 5 0\ntensor 0 10\n");
  bool found = false;
  for (const FigureRow& row : groups[2].rows) found |= row.value == "0" && row.baseline == "1,234";
  EXPECT_TRUE(found);
  for (const FigureGroup& group : counter_groups(b))
    for (const FigureRow& row : group.rows) EXPECT_EQ(row.baseline, "") << row.name;
}

}  // namespace
}  // namespace attnscope::charts
