// Kernels that are a library's routine: the manifest has no source.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "catalog/choices.h"
#include "catalog/validate.h"
#include "catalog/workload.h"
#include "core/json.h"

namespace attnscope::catalog {
namespace {

using testing::HasSubstr;

Json manifest() {
  return parse_json(R"({"id": "torch", "title": "PyTorch", "library": "torch", "entry": "scaled_dot_product_attention",
    "install": "pip install torch", "problem": "attention",
    "knobs": [{"name": "BACKEND", "values": [{"label": "flash", "value": 0}, {"label": "math", "value": 3}],
               "default": "flash"}],
    "supports": {"dtype": ["f16"], "head_dim": [64], "causal": ["none"]}})",
                    "here")
      .value();
}

Result<Kernel> parsed(const Json& json) { return parse_kernel({"torch.json", json.dump(), "", ""}); }

TEST(Library, AManifestWithoutASource) {
  auto kernel = parsed(manifest());
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(kernel->library, LibraryId::torch);
  EXPECT_TRUE(kernel->source.empty());
  EXPECT_EQ(complete_config(*kernel, {}, {})->knobs.at("BACKEND"), 0);
  Problem problem;
  problem.head_dim = 128;
  EXPECT_FALSE(check_restrictions(*kernel, problem, *complete_config(*kernel, {}, {})));
}

TEST(Library, WhatBelongsToASourceHasNoPlaceInIt) {
  for (const auto& [key, value] : {std::pair<const char*, Json>{"launch", Json::object()},
                                   {"args", Json::array({"o"})},
                                   {"shared_map", Json::array()},
                                   {"source", "torch.cu"}}) {
    Json bad = manifest();
    bad[key] = value;
    auto kernel = parsed(bad);
    ASSERT_FALSE(kernel) << key;
    EXPECT_THAT(kernel.error().message, HasSubstr(key));
  }
  Json neither = manifest();
  neither.erase("library");
  neither.erase("install");
  auto kernel = parsed(neither);
  ASSERT_FALSE(kernel);
  EXPECT_THAT(kernel.error().message, HasSubstr("source"));
}

TEST(Library, ADeviceRunsWhatItHas) {
  const Kernel routine = parsed(manifest()).value();
  Kernel source;
  source.id = "tiled";
  DeviceSpec gpu, torch;
  torch.id = "torch/cuda:0";
  torch.runs = {LibraryId::torch};
  EXPECT_TRUE(check_runs(source, gpu));
  EXPECT_TRUE(check_runs(routine, torch));
  auto refused = check_runs(routine, gpu);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().stage, Stage::device);
  EXPECT_EQ(refused.error().hint, "pip install torch");
  refused = check_runs(source, torch);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("torch/cuda:0 only runs torch"));
}

// The window greys out what a device's limits forbid; a library's routine has no limits that can be predicted.
TEST(Library, EveryValueOfItsKnobsMayBeChosen) {
  const Kernel routine = parsed(manifest()).value();
  const auto all = choices(routine, Problem{}, *complete_config(routine, {}, {}), DeviceSpec{});
  ASSERT_EQ(all.size(), 2u);
  for (const KnobChoice& choice : all) EXPECT_TRUE(choice.legal) << choice.text << ": " << choice.reason;
}

TEST(Library, ARoutineThatIsNoAttentionDeclaresWhatItWorksOn) {
  auto tile = load_kernel(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "kernels" / "cublas_tile.json");
  ASSERT_TRUE(tile) << tile.error().message;
  EXPECT_EQ(tile->library, LibraryId::cublas);
  const Problem problem = tile->default_problem();
  EXPECT_EQ(problem.kind, ProblemKind::gemm);
  EXPECT_EQ(problem.flops(), 2.0 * 32 * 32 * 64);
  auto workload = workload_of(*tile, problem, *complete_config(*tile, {}, {}));
  ASSERT_TRUE(workload) << workload.error().message;
  EXPECT_EQ(workload->operands.size(), 3u);
  EXPECT_EQ(workload->references.size(), 1u);
  for (const char* name : {"cublas_attention", "cublas_hybrid"}) {
    auto kernel = load_kernel(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "kernels" / (std::string(name) + ".json"));
    ASSERT_TRUE(kernel) << kernel.error().message;
    EXPECT_FALSE(kernel->install.empty());
    EXPECT_TRUE(check_restrictions(*kernel, Problem{}, *complete_config(*kernel, {}, {})));
  }
}

TEST(Library, TheShippedTorchManifestLoads) {
  auto kernel = load_kernel(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "kernels" / "torch.json");
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(kernel->knobs.front().values.size(), 4u);
  Problem problem;
  problem.causal = Causal::bottom_right;
  EXPECT_TRUE(check_restrictions(*kernel, problem, *complete_config(*kernel, {}, {})));
  problem.seq_k = 600;
  EXPECT_FALSE(check_restrictions(*kernel, problem, *complete_config(*kernel, {}, {})));
}

}  // namespace
}  // namespace attnscope::catalog
