#include "report/tuned.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/temp_dir.h"

namespace attnscope::report {
namespace {

Observation a_best() {
  Observation best;
  best.experiment.problem.seq_q = 333;
  best.experiment.kernel = "mma";
  best.experiment.kernel_hash = "hash";
  best.experiment.config.knobs = {{"STAGES", 2}};
  Timing& timing = best.timing.emplace();
  timing.kind = FigureKind::measured;
  timing.p10 = 9, timing.p50 = 10, timing.p90 = 11;
  best.verdict.emplace().state = VerdictState::correct;
  best.versions.driver = "580";
  return best;
}

TEST(TunedEntry, IsTheRunsMedian) {
  const Observation best = a_best();
  const TunedEntry entry = entry_of(best, "2026-11-21");
  EXPECT_EQ(entry.problem, best.experiment.problem);
  EXPECT_EQ(entry.kernel, "mma");
  EXPECT_EQ(entry.kernel_hash, "hash");
  EXPECT_EQ(entry.config, best.experiment.config);
  EXPECT_EQ(entry.kind, FigureKind::measured);
  EXPECT_EQ(entry.us, 10);
  EXPECT_EQ(entry.verdict, VerdictState::correct);
  EXPECT_EQ(entry.date, "2026-11-21");
  EXPECT_EQ(entry.versions, best.versions);
}

TEST(TunedEntry, InputsDoNotMatterAndSizesDo) {
  const Problem problem;
  Problem other = problem;
  other.seed = 9, other.scale = 2, other.distribution = Distribution::large;
  EXPECT_TRUE(same_shape(problem, other));
  other.head_dim = 128;
  EXPECT_FALSE(same_shape(problem, other));
}

TEST(TunedTable, KeepsOneEntryOfAKernelAndAShape) {
  TunedTable table{"NVIDIA L4", 89, {}};
  TunedEntry entry = entry_of(a_best(), "1");
  EXPECT_TRUE(put_entry(table, entry));
  entry.us = 12, entry.date = "2";
  EXPECT_TRUE(put_entry(table, entry)) << "a newer measurement, even a slower one";
  ASSERT_EQ(table.entries.size(), 1u);
  EXPECT_EQ(table.entries[0].date, "2");
  entry.problem.seq_q = 334;
  EXPECT_TRUE(put_entry(table, entry));
  entry.kernel = "tiled";
  EXPECT_TRUE(put_entry(table, entry));
  EXPECT_EQ(table.entries.size(), 3u);
}

TEST(TunedTable, AFileHasFourMebibytesAtMost) {
  const testing_support::TempDir dir;
  std::string text = to_json(TunedTable{"NVIDIA L4", 89, {}}).dump();
  text.resize(4 << 20, ' ');
  EXPECT_TRUE(read_tuned(dir.write("a.json", text)));
  EXPECT_FALSE(read_tuned(dir.write("b.json", text + " ")));
}

TEST(TunedTable, TheBestIsTheFastestOfTheKernelThatIsAskedFor) {
  TunedTable table{"NVIDIA L4", 89, {}};
  TunedEntry entry = entry_of(a_best(), "1");
  for (const auto& [kernel, us] : {std::pair("mma", 10.0), {"tiled", 8.0}, {"wmma", 9.0}}) {
    entry.kernel = kernel, entry.us = us;
    put_entry(table, entry);
  }
  EXPECT_EQ(best_entry({table}, "NVIDIA L4", entry.problem, "")->kernel, "tiled");
  EXPECT_EQ(best_entry({table}, "NVIDIA L4", entry.problem, "wmma")->us, 9);
  EXPECT_EQ(best_entry({table}, "NVIDIA L4", entry.problem, "cute"), nullptr);
  TunedTable second = table;
  second.entries.resize(1);
  second.entries[0].us = 7;
  EXPECT_EQ(best_entry({table, second}, "NVIDIA L4", entry.problem, "")->us, 7);
}

}  // namespace
}  // namespace attnscope::report
