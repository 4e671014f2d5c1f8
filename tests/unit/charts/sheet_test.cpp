// Tables that leave the program.
#include "charts/sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/json.h"

namespace attnscope::charts {
namespace {

TEST(Sheet, CsvHasSixDigitsAndEmptyCellsForWhatIsNone) {
  Sheet sheet{{"name", "a,b"},
              {{Cell("x, \"y\""), Cell(1234567.891)},
               {Cell(), Cell(int64_t{123456789012})},
               {Cell(NAN), Cell(std::numeric_limits<double>::infinity())}}};
  EXPECT_EQ(csv_of(sheet), "name,\"a,b\"\n\"x, \"\"y\"\"\",1.23457e+06\n,123456789012\n,\n");
  EXPECT_EQ(csv_line({Cell(0.1), Cell(-2.0), Cell("=1")}), "0.1,-2,'=1");
  EXPECT_EQ(csv_line({}), "");
}

TEST(Sheet, JsonIsAListOfObjectsWithAllDigits) {
  const Sheet sheet{{"text", "us", "bytes", "none", "nan"},
                    {{Cell("a"), Cell(0.1234567890123), Cell(int64_t{7}), Cell(), Cell(NAN)}, {Cell("b")}}};
  const auto json = parse_json(json_of(sheet), "sheet");
  ASSERT_TRUE(json) << json.error().message;
  ASSERT_EQ(json->size(), 2u);
  EXPECT_EQ((*json)[0]["text"], "a");
  EXPECT_EQ((*json)[0]["us"], 0.1234567890123);
  EXPECT_EQ((*json)[0]["bytes"], 7);
  EXPECT_TRUE((*json)[0]["none"].is_null());
  EXPECT_TRUE((*json)[0]["nan"].is_null());
  EXPECT_EQ((*json)[1].size(), 1u) << "a row may be shorter";
  EXPECT_TRUE(json_of(sheet).ends_with("]\n"));
}

TEST(Sheet, DatesAreUtcUpToTheYear9999) {
  EXPECT_EQ(date_of(0), "1970-01-01 00:00:00");
  EXPECT_EQ(date_of(1769860800.9), "2026-01-31 12:00:00");
  EXPECT_EQ(date_of(253402300799.0), "9999-12-31 23:59:59");
  for (const double none : {253402300800.0, -1.0, -0.5, double(NAN), double(INFINITY)}) EXPECT_EQ(date_of(none), "?");
}

Observation a_run() {
  Observation run;
  run.experiment.kernel = "tiled";
  run.experiment.config.knobs = {{"BLOCK_M", 32}, {"NUM_WARPS", 8}};
  run.device = "cuda:0";
  run.versions.gpu = "NVIDIA L4";
  run.versions.app = "0.1.0";
  run.hash = "abc";
  Timing& timing = run.timing.emplace();
  timing.p50 = 5;
  timing.interval_low = 4;
  timing.interval_high = 6;
  timing.kind = FigureKind::measured;
  timing.cache = CacheState::cold;
  run.verdict.emplace().state = VerdictState::correct;
  run.tflops = 1.5;
  VariantInfo& variant = run.variant.emplace();
  variant.registers = 40;
  variant.static_shared_bytes = 100;
  variant.dynamic_shared_bytes = 200;
  run.occupancy.emplace().fraction = 0.75;
  return run;
}

TEST(RunCells, EachColumnIsTheObservations) {
  const std::vector<Cell> cells = run_cells(a_run(), 0);
  ASSERT_EQ(cells.size(), run_columns().size());
  const auto cell = [&](const std::string& column) {
    const auto& columns = run_columns();
    return cells[static_cast<size_t>(std::find(columns.begin(), columns.end(), column) - columns.begin())];
  };
  EXPECT_EQ(cell("finished_at"), Cell("1970-01-01 00:00:00"));
  EXPECT_EQ(cell("kernel"), Cell("tiled"));
  EXPECT_EQ(cell("config"), Cell("BLOCK_M=32;NUM_WARPS=8"));
  EXPECT_EQ(cell("device"), Cell("cuda:0"));
  EXPECT_EQ(cell("gpu"), Cell("NVIDIA L4"));
  EXPECT_EQ(cell("us"), Cell(5.0));
  EXPECT_EQ(cell("us_low"), Cell(4.0));
  EXPECT_EQ(cell("us_high"), Cell(6.0));
  EXPECT_EQ(cell("kind"), Cell("measured"));
  EXPECT_EQ(cell("cache"), Cell("cold"));
  EXPECT_EQ(cell("result"), Cell("correct"));
  EXPECT_EQ(cell("tflops"), Cell(1.5));
  EXPECT_EQ(cell("registers"), Cell(int64_t{40}));
  EXPECT_EQ(cell("static_shared_bytes"), Cell(int64_t{100}));
  EXPECT_EQ(cell("dynamic_shared_bytes"), Cell(int64_t{200}));
  EXPECT_EQ(cell("occupancy"), Cell(0.75));
  EXPECT_EQ(cell("app"), Cell("0.1.0"));
  EXPECT_EQ(cell("hash"), Cell("abc"));
  EXPECT_EQ(cell("options"), Cell(""));
  Observation other = a_run();
  other.experiment.config.options.maxrregcount = 64;
  other.experiment.config.options.fast_math = false;
  EXPECT_EQ(run_cells(other, 0).back(), Cell("fast_math=off;maxrregcount=64"));
}

TEST(RunCells, WhatARunLacksIsEmpty) {
  Observation run;
  const std::vector<Cell> cells = run_cells(run, -1);
  ASSERT_EQ(cells.size(), run_columns().size());
  for (const size_t at : {6, 7, 8, 9, 10, 12, 13, 14, 15, 16}) EXPECT_EQ(cells[at], Cell()) << run_columns()[at];
  EXPECT_EQ(result_word(run), "not run");
  run.failure = Failure{Stage::compile, "m", "h"};
  EXPECT_EQ(result_word(run), "compile failed");
}

}  // namespace
}  // namespace attnscope::charts
