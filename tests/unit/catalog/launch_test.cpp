#include "catalog/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/choices.h"
#include "support.h"

namespace attnscope::catalog {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

struct SharedCase {
  int64_t head_dim, block_m, warps, bytes;
};

// The reports' figures (the static form of rung 2), and those that no device accepts.
TEST(Launch, SharedMemoryOfTheTiledKernel) {
  const Kernel tiled = shipped("02_tiled");
  for (const SharedCase& one :
       {SharedCase{64, 32, 8, 36928}, SharedCase{64, 32, 4, 36896}, SharedCase{64, 48, 4, 47136},
        SharedCase{64, 64, 4, 57376}, SharedCase{128, 16, 4, 49184}, SharedCase{128, 64, 4, 98336}}) {
    Problem problem;
    problem.head_dim = one.head_dim;
    for (int64_t dynamic : {0, 1}) {
      const Config config = config_of(tiled, {{"BLOCK_M", one.block_m}, {"NUM_WARPS", one.warps}, {"SHARED", dynamic}});
      Result<Launch> launch = launch_of(tiled, problem, config);
      ASSERT_TRUE(launch) << launch.error().message;
      EXPECT_EQ(launch->static_shared, dynamic ? 0 : one.bytes);
      EXPECT_EQ(launch->dynamic_shared, dynamic ? one.bytes : 0);
      EXPECT_EQ(launch->shared_total(), one.bytes);
      int64_t parts = 0;
      for (const SharedBuffer& part : launch->dynamic_parts) parts += part.bytes;
      EXPECT_EQ(parts, launch->dynamic_shared);
    }
  }
}

// With S and O in halves 64 rows fit what a kernel may declare.
TEST(Launch, HalvesTakeHalfOfTheTilesOfScoresAndOutput) {
  const Kernel tiled = shipped("02_tiled");
  const Problem problem;
  const auto asked = [&](int64_t rows, int64_t type) {
    return launch_of(tiled, problem, config_of(tiled, {{"BLOCK_M", rows}, {"SO_TYPE", type}}))->static_shared;
  };
  EXPECT_EQ(asked(64, 0), 57376);
  EXPECT_EQ(asked(64, 1), 40992);
  EXPECT_EQ(asked(32, 0), 36896) << "as in the reports";
  const Config halves = config_of(tiled, {{"BLOCK_M", 64}, {"SO_TYPE", 1}});
  EXPECT_TRUE(foretell_limits(tiled, problem, halves, device("l4")));
}

TEST(Launch, HalvesAreProposedWhereTheyMakeItFit) {
  const Kernel tiled = shipped("02_tiled");
  Problem problem;
  problem.head_dim = 128;
  DeviceSpec small = device("l4");
  small.shared_optin_block = 64 << 10;
  const Config large = config_of(tiled, {{"NUM_WARPS", 8}, {"SHARED", 1}});  // 65,600 bytes; 53,312 in halves
  const auto way = way_out(tiled, problem, large, small);
  ASSERT_TRUE(way);
  EXPECT_EQ(way->knob, "SO_TYPE");
  EXPECT_EQ(way->text, "f16");
  EXPECT_EQ(foretell_limits(tiled, problem, large, small).error().hint, "Set SO_TYPE to f16.");
  const auto kept = way_out(tiled, problem, config_of(tiled, {{"BLOCK_M", 16}}), small);  // 49,184 bytes
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->knob, "SHARED") << "the same tiles in another way come first";
}

TEST(Launch, GridAndBlock) {
  const Kernel tiled = shipped("02_tiled");
  Problem problem;
  problem.seq_q = 333;
  problem.batch = 2;
  Result<Launch> launch = launch_of(tiled, problem, config_of(tiled, {{"NUM_WARPS", 8}}));
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->shape.grid, (std::array<int64_t, 3>{11, 8, 2}));
  EXPECT_EQ(launch->shape.block, (std::array<int64_t, 3>{256, 1, 1}));
  const Kernel minimal = shipped("01_minimal");
  launch = launch_of(minimal, problem, config_of(minimal, {}));
  EXPECT_EQ(launch->shape.grid[0], 333);
  EXPECT_EQ(launch->dynamic_shared, 4 * 512);
  EXPECT_EQ(launch->static_shared, 16);
}

// A wrong size is not a config that does not fit.
TEST(Launch, ASizeOfZeroThatEmptiesTheGridIsNamed) {
  Kernel kernel;
  kernel.id = "sample";
  kernel.launch.grid[0] = "max(1, M)";
  kernel.launch.grid[1] = "ceil_div(N, 128)";
  kernel.launch.grid[2] = "1";
  for (std::string& one : kernel.launch.block) one = "1";
  Problem problem;
  problem.kind = ProblemKind::custom;
  problem.sizes = {{"K", 0}, {"M", 0}, {"N", 0}};
  const auto refused = launch_of(kernel, problem, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().stage, Stage::input);
  EXPECT_EQ(refused.error().message, "sample: with N = 0 the grid has no CTA");
  EXPECT_EQ(refused.error().hint, "N must be 1 or more.");
  problem.sizes["N"] = 129;
  const auto launch = launch_of(kernel, problem, {});
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->shape.grid, (std::array<int64_t, 3>{1, 2, 1}));
  kernel.launch.grid[1] = "N - 129";
  EXPECT_TRUE(launch_of(kernel, problem, {})) << "no size is 0: the device's limits refuse it";
}

TEST(Launch, IsCooperativeWhereTheManifestSaysSo) {
  Json manifest = good_manifest();
  EXPECT_FALSE(launch_of(*parse(manifest), {}, config_of(*parse(manifest), {}))->shape.cooperative);
  manifest["launch"]["cooperative"] = true;
  const Kernel kernel = *parse(manifest);
  EXPECT_TRUE(launch_of(kernel, {}, config_of(kernel, {}))->shape.cooperative);
}

TEST(Launch, WhatTheMapDoesNotNameIsUnnamed) {
  Json manifest = good_manifest();
  manifest["launch"]["dynamic_shared"] = "shared_map_bytes + 100";
  const Kernel kernel = *parse(manifest);
  Result<Launch> launch = launch_of(kernel, {}, config_of(kernel, {}));
  ASSERT_TRUE(launch);
  ASSERT_EQ(launch->dynamic_parts.size(), 2u);
  EXPECT_EQ(launch->dynamic_parts[0].bytes, 16 * 64 * 2);
  EXPECT_EQ(launch->dynamic_parts[1].name, "unnamed");
  EXPECT_EQ(launch->dynamic_parts[1].bytes, 100);
}

TEST(Launch, MacrosAreKnobsAndTheProblems) {
  const Kernel tiled = shipped("02_tiled");
  Problem problem;
  problem.head_dim = 128;
  problem.causal = Causal::bottom_right;
  const auto all = macros(tiled, problem, config_of(tiled, {{"NUM_WARPS", 2}}));
  EXPECT_EQ(all.at("HEAD_DIM"), 128);
  EXPECT_EQ(all.at("CAUSAL"), 2);
  EXPECT_EQ(all.at("NUM_WARPS"), 2);
  EXPECT_EQ(all.at("SYNC_POLICY"), 5);
  EXPECT_EQ(all.size(), tiled.knobs.size() + 2);
}

TEST(Limits, TheRefusalNamesBothFiguresAndTheWayOut) {
  const Kernel tiled = shipped("02_tiled");
  auto fit = foretell_limits(tiled, {}, config_of(tiled, {{"BLOCK_M", 64}}), device("l4"));
  ASSERT_FALSE(fit);
  EXPECT_EQ(fit.error().stage, Stage::limits);
  EXPECT_THAT(fit.error().message, HasSubstr("57,376"));
  EXPECT_THAT(fit.error().message, HasSubstr("49,152"));
  EXPECT_EQ(fit.error().hint, "Set SHARED to dynamic.");
  EXPECT_TRUE(foretell_limits(tiled, {}, config_of(tiled, {{"BLOCK_M", 64}, {"SHARED", 1}}), device("l4")));
}

TEST(Limits, WhereNoKnobHelpsTheHintNamesTheSize) {
  const Kernel gemm = shipped("07_gemm_simt");
  Problem problem = gemm.default_problem();
  problem.sizes["B"] = 70000;
  const auto fit = foretell_limits(gemm, problem, config_of(gemm, {}), device("l4"));
  ASSERT_FALSE(fit);
  EXPECT_THAT(fit.error().message, AllOf(HasSubstr("70,000 CTAs in z"), HasSubstr("65,535")));
  EXPECT_EQ(fit.error().hint, "Set B to 65535 or less.");
  problem.sizes["B"] = 65535;
  EXPECT_TRUE(foretell_limits(gemm, problem, config_of(gemm, {}), device("l4")));
}

TEST(Limits, ALongSequenceIsTooMuchForMinimal) {
  const Kernel minimal = shipped("01_minimal");
  Problem problem;
  problem.seq_k = 1 << 16;
  auto fit = foretell_limits(minimal, problem, config_of(minimal, {}), device("l4"));
  ASSERT_FALSE(fit);
  EXPECT_THAT(fit.error().message, HasSubstr("101,376"));
}

const KnobChoice& choice(const std::vector<KnobChoice>& all, const std::string& knob, int64_t value) {
  for (const KnobChoice& one : all)
    if (one.knob == knob && one.value == value) return one;
  throw std::runtime_error("no such choice");
}

TEST(Choices, EveryValueWithItsReason) {
  const Kernel tiled = shipped("02_tiled");
  const auto all = choices(tiled, {}, config_of(tiled, {}), device("l4"));
  size_t values = 0;
  for (const Knob& knob : tiled.knobs) values += knob.values.size();
  EXPECT_EQ(all.size(), values);
  const KnobChoice& m64 = choice(all, "BLOCK_M", 64);
  EXPECT_FALSE(m64.legal);
  EXPECT_THAT(m64.reason, HasSubstr("57,376"));
  EXPECT_EQ(m64.hint, "Set SHARED to dynamic.");
  EXPECT_TRUE(choice(all, "BLOCK_M", 32).chosen);
  EXPECT_TRUE(choice(all, "BLOCK_M", 32).is_default);
  EXPECT_FALSE(choice(all, "BLOCK_M", 48).chosen);
  EXPECT_TRUE(choice(all, "BLOCK_M", 48).legal);
  // Such a config runs but gives a wrong output: it is never forbidden, only warned about.
  const KnobChoice& six = choice(all, "NUM_WARPS", 6);
  EXPECT_TRUE(six.legal);
  ASSERT_EQ(six.warnings.size(), 1u);
  EXPECT_THAT(choice(all, "NUM_WARPS", 8).warnings, IsEmpty());
  EXPECT_EQ(choice(all, "SHARED", 1).text, "dynamic");
}

TEST(Choices, NoTileFitsStaticallyAtHeadDim128) {
  const Kernel tiled = shipped("02_tiled");
  Problem problem;
  problem.head_dim = 128;
  const auto all = choices(tiled, problem, config_of(tiled, {}), device("l4"));
  for (const KnobValue& value : tiled.find_knob("BLOCK_M")->values) {
    EXPECT_FALSE(choice(all, "BLOCK_M", value.value).legal);
    EXPECT_EQ(choice(all, "BLOCK_M", value.value).hint, "Set SHARED to dynamic.");
  }
  EXPECT_THAT(choice(all, "BLOCK_M", 16).reason, HasSubstr("49,184"));
  EXPECT_TRUE(choice(all, "SHARED", 1).legal);
}

// The kernel asks for too much unless one of its knobs is 0, and its author allows that only for the second.
TEST(Choices, TheWayOutIsOneThatTheKernelTakes) {
  Json manifest = good_manifest();
  manifest["knobs"] = Json::array();
  for (const char* name : {"FIRST", "SECOND"})
    manifest["knobs"].push_back({{"name", name}, {"values", {0, 1}}, {"default", 1}});
  manifest["requires"] = {{{"expr", "FIRST == 1"}, {"why", "it must"}}};
  manifest["launch"]["grid"][0] = "seq_q";
  manifest["launch"]["dynamic_shared"] = "200000 * FIRST * SECOND";
  manifest.erase("shared_map");
  const auto kernel = parse(manifest);
  ASSERT_TRUE(kernel) << kernel.error().message;
  const Problem problem;
  const auto way = way_out(*kernel, problem, config_of(*kernel, {}), device("l4"));
  ASSERT_TRUE(way);
  EXPECT_EQ(way->knob, "SECOND");
  EXPECT_EQ(way->value, 0);
  EXPECT_FALSE(way_out(*kernel, problem, config_of(*kernel, {}), device("l4"), "SECOND")) << "no other knob helps";
  EXPECT_EQ(foretell_limits(*kernel, problem, config_of(*kernel, {}), device("l4")).error().hint, "Set SECOND to 0.");
}

TEST(Choices, AProblemThatTheKernelDoesNotTakeMakesAllIllegal) {
  const Kernel tiled = shipped("02_tiled");
  Problem problem;
  problem.head_dim = 32;
  for (const KnobChoice& one : choices(tiled, problem, config_of(tiled, {}), device("l4"))) {
    EXPECT_FALSE(one.legal);
    EXPECT_THAT(one.reason, HasSubstr("head_dim"));
  }
}

}  // namespace
}  // namespace attnscope::catalog
