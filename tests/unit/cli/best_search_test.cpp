#include "cli/best_search.h"

#include <gtest/gtest.h>

namespace attnscope::cli {
namespace {

TEST(BestSearchTest, TheTablesEntryIsTheObservations) {
  Observation o;
  o.experiment.problem.seq_q = 777;
  o.experiment.kernel = "fake";
  o.experiment.kernel_hash = "abc";
  o.experiment.config.knobs = {{"A", 3}};
  o.timing.emplace().kind = FigureKind::measured;
  o.timing->p50 = 12.5;
  o.timing->p10 = 11;
  o.verdict.emplace().state = VerdictState::correct;
  o.versions.driver = "580";
  const report::TunedEntry entry = report::entry_of(o, "2026-11-22");
  EXPECT_EQ(entry.problem, o.experiment.problem);
  EXPECT_EQ(entry.kernel, "fake");
  EXPECT_EQ(entry.kernel_hash, "abc");
  EXPECT_EQ(entry.config, o.experiment.config);
  EXPECT_EQ(entry.kind, FigureKind::measured);
  EXPECT_EQ(entry.us, 12.5);
  EXPECT_EQ(entry.verdict, VerdictState::correct);
  EXPECT_EQ(entry.date, "2026-11-22");
  EXPECT_EQ(entry.versions, o.versions);
}

}  // namespace
}  // namespace attnscope::cli
