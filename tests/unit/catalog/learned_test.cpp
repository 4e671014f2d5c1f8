#include "catalog/learned.h"

#include <gmock/gmock.h>

#include "unit/catalog/support.h"

namespace attnscope::catalog {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kSource = R"(__device__ void put(float* at, float v) { *at = v; }
__global__ void rows(const float* x, float* y, const int* label, float* seen, int rows, int columns) {
  int row = blockIdx.x;
  put(y + row, x[row * columns + threadIdx.x] + seen[label[row]]);
}
)";

Imported imported_rows() { return *import_kernel("rows.cu", kSource, ""); }

Json buffer_of(const Imported& imported, const std::string& name) {
  const auto json = parse_json(imported.manifest, "manifest");
  for (const Json& buffer : (*json)["buffers"])
    if (buffer["name"] == name) return buffer;
  return {};
}

// What the runs of the kernel would show.
void run_all(std::vector<LearningRun>& runs) {
  for (LearningRun& run : runs) {
    const int64_t rows = run.sizes.at("rows"), columns = run.sizes.at("columns");
    const int64_t label = run.varied ? 1 : 99;
    run.touches = Touches{{{"x", true, false, 0, 4 * rows * columns, 0},
                           {"y", false, true, 0, 4 * rows, 4 * rows},
                           {"label", true, false, 0, 4 * rows, 0},
                           {"seen", true, false, 0, 4 * (label + 1), 0}},
                          {rows, 1, 1}};
  }
}

TEST(Learned, LengthsAndRolesAreWhatTheRunsShow) {
  Imported imported = imported_rows();
  ASSERT_TRUE(can_learn(imported));
  EXPECT_EQ(buffer_of(imported, "y")["role"], "inout");
  auto runs = learning_runs(imported, 256);
  run_all(runs);
  ASSERT_TRUE(learn(imported, runs));
  EXPECT_EQ(buffer_of(imported, "x")["shape"], Json({"rows", "columns"}));
  EXPECT_EQ(buffer_of(imported, "x")["counted"], true);
  EXPECT_FALSE(buffer_of(imported, "x").contains("guessed"));
  EXPECT_EQ(buffer_of(imported, "y")["shape"], Json({"rows"}));
  EXPECT_EQ(buffer_of(imported, "y")["role"], "out");
  EXPECT_EQ(buffer_of(imported, "label")["shape"], Json({"rows"}));
  EXPECT_THAT(imported.probed, Contains("y is an output: what it begins with is never read"));
  EXPECT_THAT(imported.probed, Contains(StartsWith("y has [\"rows\"] elements, as 4 runs")));
  EXPECT_THAT(imported.guessed, Not(Contains(StartsWith("y "))));
  EXPECT_TRUE(parse_kernel({"rows.json", imported.manifest, "rows.cu", kSource}));
}

TEST(Learned, WhatDependsOnDataStaysAGuess) {
  Imported imported = imported_rows();
  auto runs = learning_runs(imported, 256);
  run_all(runs);
  ASSERT_TRUE(learn(imported, runs));
  EXPECT_EQ(buffer_of(imported, "seen")["guessed"], true);
  EXPECT_FALSE(buffer_of(imported, "seen").contains("counted"));
  EXPECT_THAT(imported.guessed, Contains(StartsWith("seen has ")));
}

TEST(Learned, WithoutItsBaseNothingIsLearned) {
  Imported imported = imported_rows();
  const std::string before = imported.manifest;
  auto runs = learning_runs(imported, 256);
  run_all(runs);
  runs.front().touches.reset();
  EXPECT_FALSE(learn(imported, runs));
  EXPECT_EQ(imported.manifest, before);
}

TEST(Learned, ABufferThatNothingAccessesIsUnknown) {
  Imported imported = imported_rows();
  auto runs = learning_runs(imported, 256);
  run_all(runs);
  for (LearningRun& run : runs) run.touches->buffers[1] = {"y"};
  ASSERT_TRUE(learn(imported, runs));
  EXPECT_EQ(buffer_of(imported, "y")["guessed"], true);
  EXPECT_EQ(buffer_of(imported, "y")["role"], "inout");
}

TEST(Learned, RunsHaveSmallSizesAndRoom) {
  const Imported imported = imported_rows();
  const auto runs = learning_runs(imported, 256);
  ASSERT_EQ(runs.size(), 6u);
  EXPECT_EQ(runs[0].sizes.at("rows"), 256);
  EXPECT_EQ(runs[1].sizes.at("rows"), 512);
  EXPECT_EQ(runs[2].sizes.at("columns"), 512);
  EXPECT_EQ(runs[3].sizes.at("rows") * runs[3].sizes.at("columns"), 4 * 256 * 256);
  EXPECT_TRUE(runs[4].varied && runs[5].varied);
  EXPECT_EQ(runs[4].sizes, runs[0].sizes);
  Imported varied;
  varied.manifest = runs[4].manifest;
  EXPECT_EQ(buffer_of(varied, "label")["init"], "zeros");
  EXPECT_THAT(runs[5].manifest, HasSubstr("\"2 * (ceil_div(")) << "no launch says the grid";
  for (const LearningRun& run : runs) {
    const auto kernel = parse_kernel({"rows.json", run.manifest, "rows.cu", kSource});
    ASSERT_TRUE(kernel) << kernel.error().message;
    EXPECT_GE(std::stoll(kernel->buffers[0].shape[0]), 2 * run.sizes.at("rows") * run.sizes.at("columns"));
  }
}

TEST(Learned, ASizeThatMayNotGrowIsHalved) {
  const Imported imported = imported_rows();
  auto runs = learning_runs(imported, 256);
  run_all(runs);
  EXPECT_TRUE(halved_runs(imported, runs).empty());
  runs[2].touches.reset();
  const auto halved = halved_runs(imported, runs);
  ASSERT_EQ(halved.size(), 1u);
  EXPECT_EQ(halved[0].sizes.at("columns"), 128);
  EXPECT_EQ(halved[0].sizes.at("rows"), 256);
}

TEST(Learned, AManifestSaysOneOriginOfALength) {
  Imported imported = imported_rows();
  auto runs = learning_runs(imported, 256);
  run_all(runs);
  ASSERT_TRUE(learn(imported, runs));
  std::string both = imported.manifest;
  both.replace(both.find("\"counted\""), 9, "\"guessed\": true, \"counted\"");
  const auto kernel = parse_kernel({"rows.json", both, "rows.cu", kSource});
  ASSERT_FALSE(kernel);
  EXPECT_THAT(kernel.error().message, HasSubstr("counted or guessed, not both"));
}

}  // namespace
}  // namespace attnscope::catalog
