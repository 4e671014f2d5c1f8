#include "report/tuned.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/temp_dir.h"

namespace attnscope::report {
namespace {

using testing::HasSubstr;

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

TunedEntry tuned(const std::string& kernel, double us, FigureKind kind) {
  TunedEntry entry;
  entry.kernel = kernel;
  entry.kernel_hash = "hash";
  entry.us = us;
  entry.kind = kind;
  entry.verdict = VerdictState::correct;
  entry.date = "2026-11-21";
  entry.config.knobs = {{"BLOCK_M", 16}};
  return entry;
}

TEST(Tuned, AMeasuredFigurePrecedesAModelledOne) {
  TunedTable table{"NVIDIA H200", 90, {}};
  EXPECT_TRUE(put_entry(table, tuned("a", 10, FigureKind::modelled)));
  EXPECT_TRUE(put_entry(table, tuned("b", 5, FigureKind::modelled)));
  EXPECT_EQ(best_entry({table}, "NVIDIA H200", Problem{}, "")->kernel, "b");
  EXPECT_TRUE(put_entry(table, tuned("a", 12, FigureKind::measured)));
  EXPECT_FALSE(put_entry(table, tuned("a", 3, FigureKind::modelled)));
  EXPECT_EQ(table.entries.size(), 2u);
  EXPECT_EQ(best_entry({table}, "NVIDIA H200", Problem{}, "")->kernel, "a");
  EXPECT_EQ(best_entry({table}, "NVIDIA H200", Problem{}, "b")->us, 5);
  EXPECT_EQ(best_entry({table}, "NVIDIA L4", Problem{}, ""), nullptr);
  Problem other;
  other.seq_q = 513;
  EXPECT_EQ(best_entry({table}, "NVIDIA H200", other, ""), nullptr);
  other = Problem{};
  other.seed = 9;
  EXPECT_NE(best_entry({table}, "NVIDIA H200", other, ""), nullptr);
}

TEST(Tuned, ATableSurvivesItsJsonAndKeepsOnlyWhatIsCorrect) {
  const TunedTable table{"NVIDIA L4", 89, {tuned("a", 10, FigureKind::modelled)}};
  auto again = tuned_from_json(to_json(table), "t.json");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, table);
  Json wrong = to_json(table);
  wrong["entries"][0]["verdict"] = "wrong";
  EXPECT_FALSE(tuned_from_json(wrong, "t.json"));
  wrong = to_json(table);
  wrong["entries"][0]["config"]["knobs"]["BLOCK_M"] = "16; rm";
  EXPECT_FALSE(tuned_from_json(wrong, "t.json"));
}

TEST(Tuned, AFolderGivesItsTablesOrTheReasonOfTheFirstThatItCannotRead) {
  const testing_support::TempDir dir;
  TunedTable table{"NVIDIA L4", 89, {tuned("a", 10, FigureKind::modelled)}};
  const auto file = dir.write("b.json", to_json(table).dump());
  dir.write("notes.txt", "no table");
  auto tables = load_tuned(dir.path());
  ASSERT_TRUE(tables) << tables.error().message;
  table.entries[0].source = file.string();
  EXPECT_EQ(*tables, std::vector{table});
  for (const char* damaged : {"{", "{\"device\": 1}"}) {
    const auto first = dir.write("a.json", damaged);
    tables = load_tuned(dir.path());
    ASSERT_FALSE(tables) << damaged;
    EXPECT_EQ(tables.error().stage, Stage::input);
    EXPECT_THAT(tables.error().message, HasSubstr(first.string()));
  }
  const auto none = read_tuned(dir / "none.json");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().stage, Stage::input);
  EXPECT_THAT(none.error().message, HasSubstr("none.json"));
  tables = load_tuned(dir / "none");
  ASSERT_FALSE(tables);
  EXPECT_EQ(tables.error().stage, Stage::input);
  EXPECT_THAT(tables.error().message, HasSubstr("none: the folder of tuned tables cannot be read: No such file"));
}

TEST(Tuned, EveryTableOfTheDeviceIsLookedThrough) {
  const TunedTable other{"NVIDIA A10G", 86, {tuned("a", 1, FigureKind::measured)}};
  const TunedTable slow{"NVIDIA L4", 89, {tuned("a", 9, FigureKind::measured), tuned("b", 8, FigureKind::measured)}};
  const TunedTable fast{"NVIDIA L4", 89, {tuned("c", 7, FigureKind::measured), tuned("a", 7, FigureKind::measured)}};
  for (const auto& tables : {std::vector{other, slow, fast}, {slow, other, fast}, {fast, slow, other}}) {
    EXPECT_EQ(best_entry(tables, "NVIDIA L4", Problem{}, "")->kernel, "c") << "the first of those that are equal";
    EXPECT_EQ(best_entry(tables, "NVIDIA L4", Problem{}, "a")->us, 7);
    EXPECT_EQ(best_entry(tables, "NVIDIA L4", Problem{}, "b")->us, 8);
    EXPECT_EQ(best_entry(tables, "NVIDIA A10G", Problem{}, "")->us, 1);
  }
}

TEST(Tuned, ATimeIsRequiredAndSoAreItsConditions) {
  const TunedTable table{"NVIDIA L4", 89, {tuned("a", 10, FigureKind::modelled)}};
  for (const char* key : {"attnscope_tuned", "device", "arch", "entries"}) {
    Json lacks = to_json(table);
    lacks.erase(key);
    const auto read = tuned_from_json(lacks, "t.json");
    ASSERT_FALSE(read) << key;
    EXPECT_THAT(read.error().message, HasSubstr(key));
  }
  for (const char* key : {"problem", "kernel", "config", "kind", "us", "verdict", "versions"}) {
    Json lacks = to_json(table);
    lacks["entries"][0].erase(key);
    const auto read = tuned_from_json(lacks, "t.json");
    ASSERT_FALSE(read) << key;
    EXPECT_THAT(read.error().message, HasSubstr(std::string("t.json/entries/0/") + key));
  }
}

TEST(Tuned, TheShippedTablesAreWhole) {
  auto tables = load_tuned(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "assets" / "tuned");
  ASSERT_TRUE(tables) << tables.error().message;
  for (const TunedTable& table : *tables) EXPECT_FALSE(table.entries.empty()) << table.device;
}

}  // namespace
}  // namespace attnscope::report
