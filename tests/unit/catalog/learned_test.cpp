#include "catalog/learned.h"

#include <gmock/gmock.h>

#include "core/escape.h"
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

Json buffer_in(const std::string& manifest, const std::string& name) {
  const auto json = parse_json(manifest, "manifest");
  for (const Json& buffer : (*json)["buffers"])
    if (buffer["name"] == name) return buffer;
  return {};
}
Json buffer_of(const Imported& imported, const std::string& name) { return buffer_in(imported.manifest, name); }

// What the runs of the kernel would show.
void run_all(std::vector<LearningRun>& runs) {
  for (LearningRun& run : runs) {
    const int64_t rows = run.sizes.at("rows"), columns = run.sizes.at("columns");
    const int64_t label = run.varied ? 1 : 99;
    run.touches = Touches{{{"x", true, false, 0, 4 * rows * columns, 0},
                           {"y", false, true, 0, 4 * rows, 4 * rows},
                           {"label", true, false, 0, 4 * rows, 0},
                           {"seen", true, false, 0, 4 * (label + 1), 0}},
                          1};
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

TEST(Learned, ASparseLengthStaysAGuess) {
  Imported imported = imported_rows();
  auto runs = learning_runs(imported, 256);
  run_all(runs);
  runs.back().touches->buffers[0].sparse = true;
  ASSERT_TRUE(learn(imported, runs));
  EXPECT_EQ(buffer_of(imported, "x")["guessed"], true);
  EXPECT_EQ(buffer_of(imported, "y")["counted"], true);
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
  ASSERT_EQ(runs.size(), 9u);
  EXPECT_EQ(runs[0].sizes.at("rows"), 256);
  EXPECT_EQ(runs[1].sizes.at("rows"), 512);
  EXPECT_EQ(runs[2].sizes.at("columns"), 512);
  EXPECT_EQ(runs[8].sizes.at("rows") * runs[8].sizes.at("columns"), 4 * 256 * 256);
  for (size_t i = 3; i < 8; ++i) {
    EXPECT_TRUE(runs[i].varied);
    EXPECT_EQ(runs[i].sizes, runs[0].sizes);
  }
  EXPECT_EQ(buffer_in(runs[3].manifest, "label")["init"], "zeros");
  EXPECT_THAT(runs[6].manifest, HasSubstr("\"2 * (ceil_div(")) << "no launch says the grid";
  EXPECT_THAT(runs[7].manifest, HasSubstr("\"ceil_div(256, 2)\"")) << "or the block";
  for (const LearningRun& run : runs) {
    const auto kernel = parse_kernel({"rows.json", run.manifest, "rows.cu", kSource});
    ASSERT_TRUE(kernel) << kernel.error().message;
    EXPECT_GE(std::stoll(kernel->buffers[0].shape[0]), 2 * run.sizes.at("rows") * run.sizes.at("columns"));
  }
}

// The order is that of a length's dimensions: [B, H, N, d].
TEST(Learned, SizesAreInTheOrderOfTheArgumentsAfterThoseOfTheGridOnly) {
  Imported imported = imported_rows();
  auto json = *parse_json(imported.manifest, "m");
  json["sizes"]["batch"] = 64;
  json["launch"]["grid"] = {"columns", "batch", "1"};
  imported.manifest = json_text(json);
  const auto runs = learning_runs(imported, 64);
  ASSERT_GT(runs.size(), 3u);
  const std::vector<std::string> order{"batch", "rows", "columns"};
  for (size_t i = 0; i < order.size(); ++i)
    for (const std::string& name : order)
      EXPECT_EQ(runs[i + 1].sizes.at(name), name == order[i] ? 128 : 64) << "run " << i + 1 << ", " << name;
}

Imported imported_of(const std::string& source) { return *import_kernel("k.cu", source, ""); }

std::vector<std::string> inits(const std::vector<LearningRun>& runs, const std::string& buffer) {
  std::vector<std::string> all;
  for (const LearningRun& run : runs)
    if (run.varied) all.push_back(buffer_in(run.manifest, buffer)["init"].dump());
  return all;
}

// `if (*p > 6.f) *p = 6.f;` stores nothing with usual data, `if (x[i] > -6.f) y[i] = 1;` everything.
TEST(Learned, FloatsVaryToo) {
  const auto runs = learning_runs(imported_rows(), 256);
  const auto all = inits(runs, "x");
  EXPECT_THAT(all, Contains("{\"fill\":1000}"));
  EXPECT_THAT(all, Contains("{\"fill\":-1000}"));
  EXPECT_THAT(all, Contains("{\"random\":[-1000,1000]}"));
  Imported imported = imported_rows();
  auto seen = runs;
  run_all(seen);
  seen[4].touches->buffers[1].stored_bytes = 4;  // y
  ASSERT_TRUE(learn(imported, seen));
  EXPECT_EQ(buffer_of(imported, "y")["role"], "inout");
  EXPECT_EQ(buffer_of(imported, "y")["guessed"], true);
}

// What begins with some contents must not start poisoned where elements may stay as they are.
TEST(Learned, AnOutputIsStoredToWhole) {
  Imported imported = imported_rows();
  auto runs = learning_runs(imported, 256);
  run_all(runs);
  for (LearningRun& run : runs) run.touches->buffers[1].stored_bytes -= 4;
  ASSERT_TRUE(learn(imported, runs));
  EXPECT_EQ(buffer_of(imported, "y")["role"], "inout");
  EXPECT_EQ(buffer_of(imported, "y")["counted"], true);
  EXPECT_THAT(imported.guessed, Contains(std::string("y") + kReadAndWritten + "random"));
}

TEST(Learned, WhatIsReadAndStoredStaysSo) {
  Imported imported = imported_rows();
  auto runs = learning_runs(imported, 256);
  run_all(runs);
  for (LearningRun& run : runs) run.touches->buffers[1].read_first = true;
  ASSERT_TRUE(learn(imported, runs));
  EXPECT_EQ(buffer_of(imported, "y")["role"], "inout");
  EXPECT_THAT(imported.probed, Contains("y is read and written"));
}

// learned.cpp finds the roles that are guesses by import's own words.
TEST(Learned, BothGuessesOfARoleCanBeLearned) {
  const Imported imported = imported_of(R"(__device__ void put(float* at, float v) { *at = v; }
__global__ void k(const int* order, float* y, float* z, int n) {
  y[order[threadIdx.x]] = 1;
  put(z + threadIdx.x, 2);
})");
  EXPECT_THAT(imported.guessed, Contains(StartsWith(std::string("y") + kScattered)));
  EXPECT_THAT(imported.guessed, Contains(StartsWith(std::string("z") + kReadAndWritten)));
  for (const bool dense : {false, true}) {
    Imported told = imported;
    auto runs = learning_runs(told, 256);
    for (LearningRun& run : runs) {
      const int64_t bytes = 4 * run.sizes.at("n");
      run.touches = Touches{{{"order", true, false, 0, bytes, 0},
                             {"y", false, true, 0, bytes, dense ? bytes : 4},
                             {"z", false, true, 0, bytes, bytes}},
                            1};
    }
    ASSERT_TRUE(learn(told, runs));
    EXPECT_EQ(buffer_of(told, "y")["role"], dense ? "out" : "inout");
    EXPECT_EQ(buffer_of(told, "z")["role"], "out");
  }
}

// Another order of the data changes where y is stored to, and not that it is only stored to.
TEST(Learned, ARoleMayHoldWhereALengthDoesNot) {
  Imported imported = imported_rows();
  auto runs = learning_runs(imported, 256);
  run_all(runs);
  for (LearningRun& run : runs)
    if (run.varied) run.touches->buffers[1].end = run.touches->buffers[1].stored_bytes = 8;
  ASSERT_TRUE(learn(imported, runs));
  EXPECT_EQ(buffer_of(imported, "y")["role"], "out");
  EXPECT_TRUE(buffer_of(imported, "y").value("guessed", false));
  for (LearningRun& run : runs)
    if (run.varied) run.touches->buffers[1].stored_bytes = 4;
  Imported again = imported_rows();
  ASSERT_TRUE(learn(again, runs));
  EXPECT_EQ(buffer_of(again, "y")["role"], "inout") << "with other data it is stored to with holes";
}

// Half as many threads leave holes in an output that is whole with the guessed block, so the guess is right.
TEST(Learned, ABlockThatFillsTheOutputIsTheKernels) {
  for (const bool holes : {true, false}) {
    Imported imported = imported_of(R"(__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  for (int k = 0; k < 2; ++k) y[i + 128 * k] = x[i];
})");
    auto runs = learning_runs(imported, 256);
    ASSERT_EQ(std::ranges::count(runs, true, &LearningRun::smaller_block), 1);
    for (LearningRun& run : runs) {
      const int64_t bytes = 4 * run.sizes.at("n"), reached = run.smaller_block ? bytes - 256 : bytes;
      run.touches =
          Touches{{{"x", true, false, 0, reached, 0}, {"y", false, true, 0, bytes, holes ? reached : bytes}}, 1};
      if (!run.smaller_block) run.touches->buffers[1].stored_bytes = bytes;
    }
    const bool learned = learn(imported, runs);
    EXPECT_EQ(buffer_of(imported, "x").value("counted", false), holes && learned) << holes;
  }
}

constexpr const char* kComputed = R"(__global__ void k(const float* x, float* y, int n, int offset) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += 64) y[i + offset] = x[i];
}
)";

bool has_grid(const std::vector<LearningRun>& runs, const Json& grid) {
  return std::ranges::any_of(runs, [&](const LearningRun& run) {
    return run.varied && (*parse_json(run.manifest, "manifest"))["launch"]["grid"] == grid;
  });
}

// The host code computes its 1 in a way that is not followed.
TEST(Learned, AComputedGridIsAGuess) {
  const Imported computed = imported_of(std::string(kComputed) +
                                        "void run(float* x, float* y, int n) { int g = best(n); "
                                        "k<<<g, 64>>>(x, y, n, 0); }");
  const Json larger{"2 * (1)", "2 * (1)", "2 * (1)"};
  EXPECT_TRUE(has_grid(learning_runs(computed, 256), larger)) << computed.manifest;
  const Imported said =
      imported_of(std::string(kComputed) + "void run(float* x, float* y, int n) { k<<<1, 64>>>(x, y, n, 0); }");
  EXPECT_FALSE(has_grid(learning_runs(said, 256), larger));
}

TEST(Learned, GuessedArgumentsVary) {
  const auto offset = [](const LearningRun& run) { return (*parse_json(run.manifest, "m"))["args"][3]["value"]; };
  const auto runs = learning_runs(imported_of(kComputed), 256);
  EXPECT_EQ(offset(runs.front()), 0);
  EXPECT_TRUE(std::ranges::any_of(runs, [&](const LearningRun& run) { return run.varied && offset(run) == 1; }));
  const auto said = learning_runs(
      imported_of(std::string(kComputed) + "void run(float* x, float* y, int n) { k<<<1, 64>>>(x, y, n, 0); }"), 256);
  EXPECT_TRUE(std::ranges::all_of(said, [&](const LearningRun& run) { return offset(run) == 0; }));
}

// A factor may be a knob's value.
TEST(Learned, ALengthWithANumberStaysAGuessWhereThereAreKnobs) {
  for (const bool knob : {false, true}) {
    Imported imported = imported_of(std::string(knob ? "#ifndef TILE\n#define TILE 4\n#endif\n" : "") + kSource);
    auto runs = learning_runs(imported, 256);
    run_all(runs);
    for (LearningRun& run : runs) run.touches->buffers[1] = {"y", false, true, 0, 12 * run.sizes.at("rows"), 0};
    ASSERT_TRUE(learn(imported, runs));
    EXPECT_EQ(buffer_of(imported, "y").contains("counted"), !knob);
    EXPECT_EQ(buffer_of(imported, "x")["counted"], true);
  }
}

TEST(Learned, NothingIsLearnedOfATemplateWithGuessedNumbers) {
  const std::string kernel =
      "template <int TILE> " + std::string(kSource).substr(std::string(kSource).find("__global__"));
  const std::string put = std::string(kSource).substr(0, std::string(kSource).find("__global__"));
  const auto guessed = import_kernel("k.cu", put + kernel, "", "", "", "", 0);
  ASSERT_TRUE(guessed) << guessed.error().message;
  EXPECT_FALSE(can_learn(*guessed));
}

TEST(Learned, NothingIsLearnedWhereAVariableHasNoContents) {
  EXPECT_TRUE(can_learn(imported_rows()));
  EXPECT_FALSE(can_learn(imported_of(std::string("__constant__ int columns_used;\n") + kSource)));
}

// Import added an edge that nothing accesses, so that an element of it is not stored to is no finding.
TEST(Learned, AnEdgeStaysAGuess) {
  Imported imported = imported_rows();
  auto runs = learning_runs(imported, 256);
  run_all(runs);
  for (LearningRun& run : runs) {
    const int64_t rows = run.sizes.at("rows"), columns = run.sizes.at("columns");
    run.touches->buffers[1] = {"y", false, true, 0, 4 * ((rows - 1) * columns - 1), 4};
  }
  ASSERT_TRUE(learn(imported, runs));
  EXPECT_EQ(buffer_of(imported, "y")["shape"], Json({"rows", "columns"}));
  EXPECT_EQ(buffer_of(imported, "y")["guessed"], true);
  EXPECT_FALSE(buffer_of(imported, "y").contains("counted"));
}

// `--problem` sets a lowered size back.
TEST(Learned, ASizeThatWasLoweredIsNotRaised) {
  for (const bool lowered : {false, true}) {
    Imported imported = imported_rows();
    auto json = *parse_json(imported.manifest, "m");
    json["sizes"]["rows"] = 64;
    imported.manifest = json_text(json);
    if (lowered) imported.lowered["rows"] = 512;
    auto runs = learning_runs(imported, 512, 256);
    run_all(runs);
    ASSERT_TRUE(learn(imported, runs));
    EXPECT_EQ((*parse_json(imported.manifest, "m"))["sizes"]["rows"], lowered ? 64 : 256);
  }
}

TEST(Learned, ASizeThatMayNotGrowIsHalved) {
  const Imported imported = imported_rows();
  auto runs = learning_runs(imported, 256);
  run_all(runs);
  EXPECT_TRUE(halved_runs(imported, runs).empty());
  runs[2].touches.reset();
  const auto halved = halved_runs(imported, runs);
  ASSERT_EQ(halved.size(), 2u);
  EXPECT_EQ(halved[0].sizes.at("columns"), 128);
  EXPECT_EQ(halved[0].sizes.at("rows"), 256);
  EXPECT_EQ(halved[1].sizes.at("columns"), 128) << "the one that checks";
  EXPECT_EQ(halved[1].sizes.at("rows"), 512);
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
