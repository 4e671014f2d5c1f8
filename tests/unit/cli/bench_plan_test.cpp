#include "cli/bench_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sweep/twin.h"
#include "unit/model/devices_for_tests.h"

namespace attnscope::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Knobs = std::map<std::string, int64_t>;

// Two kernels with a source, one of torch with two backends, and one that is not attention.
class BenchPlanTest : public testing::Test {
 protected:
  BenchPlanTest() {
    for (const char* id : {"minimal", "tiled"}) {
      Kernel& kernel = kernels_.emplace_back();
      kernel.id = id;
      kernel.content_hash = std::string("hash of ") + id;
      kernel.supports.dtypes = {DType::f16};
      kernel.supports.head_dims = {64, 128};
      kernel.supports.causals = {Causal::none};
      for (int axis = 0; axis < 3; ++axis) kernel.launch.grid[axis] = kernel.launch.block[axis] = "1";
    }
    kernels_[1].knobs = {{"NUM_WARPS", {{4, ""}, {8, ""}}, 4, ""}, {"SYNC", {{0, "light"}, {1, "full"}}, 1, ""}};
    Kernel& torch = kernels_.emplace_back();
    torch.id = "torch_attention";
    torch.library = LibraryId::torch;
    torch.knobs = {{"BACKEND", {{0, "flash"}, {1, "math"}}, 0, ""}};
    Kernel& sum = kernels_.emplace_back();
    sum.id = "sum";
    sum.problem = ProblemKind::reduction;
    device_ = model::l4();
    device_.id = "cuda:0";
    device_.name = "NVIDIA L4";
    device_.arch = 89;
    device_.emulated = false;
    wishes_.problems = {"B=1,H=2,S=64,D=64"};
  }
  // A correct one for the first problem.
  report::TunedEntry entry_of_tiled() const {
    report::TunedEntry entry;
    entry.problem = problem_from_text(wishes_.problems[0]).value();
    entry.kernel = "tiled";
    entry.verdict = VerdictState::correct;
    entry.us = 5;
    entry.config.knobs = {{"NUM_WARPS", 8}, {"SYNC", 0}};
    return entry;
  }
  BenchTasks plan() {
    auto tasks = plan_bench(wishes_, kernels_, tuned_, device_, versions_);
    EXPECT_TRUE(tasks) << tasks.error().message;
    return tasks.value_or(BenchTasks{});
  }
  std::string refusal() {
    const auto tasks = plan_bench(wishes_, kernels_, tuned_, device_, versions_);
    return tasks ? "" : tasks.error().message;
  }
  std::vector<std::string> labels() {
    std::vector<std::string> all;
    for (const report::Entry& entry : plan().plan.head.entries) all.push_back(entry.label);
    return all;
  }

  std::vector<Kernel> kernels_;
  std::vector<report::TunedTable> tuned_;
  DeviceSpec device_;
  Versions versions_{"0.1.0", "12.8", "580", ""};
  BenchWishes wishes_;
};

TEST_F(BenchPlanTest, OnAGpuEveryAttentionKernelAndEveryBackendIsTimed) {
  const BenchTasks tasks = plan();
  const report::BenchReport& head = tasks.plan.head;
  EXPECT_EQ(head.device, "cuda:0");
  EXPECT_EQ(head.device_name, "NVIDIA L4");
  EXPECT_EQ(head.arch, 89);
  EXPECT_FALSE(head.emulated);
  EXPECT_EQ(head.versions, versions_);
  EXPECT_EQ(tasks.plan.blocks, 12);
  EXPECT_EQ(tasks.plan.block_ms, 100);
  ASSERT_EQ(head.entries.size(), 4u);
  EXPECT_EQ(head.entries[0], (report::Entry{"minimal", "minimal", "hash of minimal", false, "cuda:0", ""}));
  EXPECT_EQ(head.entries[1].label, "tiled");
  EXPECT_EQ(head.entries[2], (report::Entry{"torch_attention flash", "torch_attention", "", true, "torch/cuda:0", ""}));
  EXPECT_EQ(head.entries[3].label, "torch_attention math");
  ASSERT_EQ(tasks.kernels.size(), 4u);
  EXPECT_EQ(tasks.kernels[3].id, "torch_attention");
  ASSERT_EQ(tasks.drafts.size(), 1u);
  ASSERT_EQ(tasks.drafts[0].size(), 4u);
  const Draft& draft = tasks.drafts[0][3];
  EXPECT_EQ(draft.device, "torch/cuda:0");
  EXPECT_EQ(draft.config.knobs, (Knobs{{"BACKEND", 1}}));
  EXPECT_EQ(draft.measure.cache, CacheState::hot);
  EXPECT_EQ(draft.measure.max_time_ms, 100);
  EXPECT_EQ(draft.measure.sampled_share, 1);
  EXPECT_EQ(draft.problem.seq_q, 64);
  ASSERT_EQ(head.rows.size(), 1u);
  EXPECT_EQ(head.rows[0].cells.at(3).knobs, (Knobs{{"BACKEND", 1}}));
  device_.id = "l4box/cuda:1";
  EXPECT_EQ(plan().plan.head.entries[2].device, "torch/cuda:1");
  device_.runs.emplace_back(LibraryId::torch);
  EXPECT_EQ(plan().plan.head.entries[2].device, "l4box/cuda:1");
}

TEST_F(BenchPlanTest, OnAnEmulatedDeviceNoPeerIsTimedUnlessItIsNamed) {
  device_.id = "emulated:l4";
  device_.emulated = true;
  EXPECT_THAT(labels(), ElementsAre("minimal", "tiled"));
  wishes_.peers = {"torch_attention"};
  EXPECT_THAT(labels(), ElementsAre("minimal", "tiled", "torch_attention"));
  wishes_.problems = {"B=1,H=1,S=64,D=64", "B=4,H=16,S=4096,D=128"};
  const BenchTasks tasks = plan();
  EXPECT_EQ(tasks.drafts[0][0].measure.sampled_share, 1);
  EXPECT_EQ(tasks.drafts[1][0].measure.sampled_share, sweep::emulated_share(tasks.drafts[1][0].problem));
  EXPECT_LT(tasks.drafts[1][0].measure.sampled_share, 1);
}

TEST_F(BenchPlanTest, AKernelWithoutKnobsIsOnePeer) {
  kernels_[2].knobs.clear();
  EXPECT_THAT(labels(), ElementsAre("minimal", "tiled", "torch_attention"));
  kernels_[2].problem = ProblemKind::gemm;
  EXPECT_THAT(labels(), ElementsAre("minimal", "tiled")) << "no attention";
}

TEST_F(BenchPlanTest, CachesAndPassesAreAsAskedFor) {
  const auto caches = [&](BenchCaches wanted) {
    wishes_.caches = wanted;
    std::vector<CacheState> all;
    for (const auto& row : plan().plan.head.rows) all.push_back(row.cache);
    return all;
  };
  EXPECT_THAT(caches(BenchCaches::hot), ElementsAre(CacheState::hot));
  EXPECT_THAT(caches(BenchCaches::cold), ElementsAre(CacheState::cold));
  EXPECT_THAT(caches(BenchCaches::both), ElementsAre(CacheState::hot, CacheState::cold));
  EXPECT_EQ(plan().drafts[1][0].measure.cache, CacheState::cold);
  wishes_.quick = true;
  EXPECT_EQ(plan().plan.blocks, 10);
  EXPECT_EQ(plan().plan.block_ms, 30);
  EXPECT_EQ(plan().drafts[0][0].measure.max_time_ms, 30);
}

TEST_F(BenchPlanTest, ATunedConfigIsTakenWhereNoneIsNamed) {
  report::TunedEntry best = entry_of_tiled();
  tuned_.push_back({"NVIDIA L4", 89, {best}});
  const auto knobs = [&] { return plan().drafts[0].at(0).config.knobs; };
  wishes_.kernels = {"tiled"};
  EXPECT_EQ(knobs(), best.config.knobs);
  wishes_.defaults = true;
  EXPECT_EQ(knobs(), Knobs{});
  wishes_.defaults = false;
  wishes_.kernels = {"tiled:NUM_WARPS=4"};
  EXPECT_EQ(knobs(), (Knobs{{"NUM_WARPS", 4}}));
  wishes_.kernels = {"tiled"};
  tuned_[0].entries[0].config.knobs["NUM_WARPS"] = 5;  // of an earlier version of the kernel
  EXPECT_EQ(knobs(), Knobs{});
}

TEST_F(BenchPlanTest, AConfigSaysWhereItComesFrom) {
  using report::ConfigFrom;
  const auto entry = [](const char* problem, int64_t warps, FigureKind kind) {
    report::TunedEntry tuned;
    tuned.problem = problem_from_text(problem).value();
    tuned.kernel = "tiled";
    tuned.kind = kind;
    tuned.verdict = VerdictState::correct;
    tuned.us = 5;
    tuned.config.knobs = {{"NUM_WARPS", warps}, {"SYNC", 0}};
    return tuned;
  };
  wishes_.kernels = {"minimal", "tiled"};
  const auto tiled = [&] { return plan().plan.head.rows.at(0).cells.at(1); };
  EXPECT_EQ(plan().plan.head.rows.at(0).cells.at(0).config_from, ConfigFrom::named) << "nothing to choose";
  EXPECT_EQ(tiled().config_from, ConfigFrom::untuned);
  EXPECT_EQ(tiled().knobs, Knobs{});
  tuned_.push_back({"NVIDIA H200", 90, {entry("B=1,H=2,S=64,D=64", 8, FigureKind::measured)}});
  tuned_.push_back({"NVIDIA L4", 89, {entry("B=1,H=2,S=64,D=128", 8, FigureKind::measured)}});
  EXPECT_EQ(tiled().config_from, ConfigFrom::untuned) << "another device, another head size";
  tuned_[1].entries.push_back(entry("B=1,H=2,S=4096,D=64", 4, FigureKind::measured));
  tuned_[1].entries.push_back(entry("B=1,H=2,S=128,D=64", 8, FigureKind::modelled));
  EXPECT_EQ(tiled().config_from, ConfigFrom::nearest);
  EXPECT_EQ(tiled().tuned_for, tuned_[1].entries[2].problem);
  EXPECT_EQ(tiled().knobs, tuned_[1].entries[2].config.knobs);
  EXPECT_EQ(plan().drafts[0].at(1).config.knobs, tiled().knobs);
  tuned_[1].entries[2].config.knobs["NUM_WARPS"] = 5;  // which the kernel has no more
  EXPECT_EQ(tiled().tuned_for, tuned_[1].entries[1].problem) << "the next one that fits";
  tuned_[1].entries.push_back(entry("B=1,H=2,S=64,D=64", 8, FigureKind::modelled));
  EXPECT_EQ(tiled().config_from, ConfigFrom::tuned);
  EXPECT_EQ(tiled().tuned_for, std::nullopt);
  wishes_.defaults = true;
  EXPECT_EQ(tiled().config_from, ConfigFrom::defaults);
  wishes_.defaults = false;
  wishes_.kernels = {"minimal", "tiled:NUM_WARPS=4"};
  EXPECT_EQ(tiled().config_from, ConfigFrom::named);
}

TEST_F(BenchPlanTest, AConfigsOptionsAreThoseOfItsTableOrItsKernel) {
  report::TunedEntry best = entry_of_tiled();
  wishes_.kernels = {"minimal", "tiled", "tiled:NUM_WARPS=4"};
  kernels_[0].options.fmad = kernels_[1].options.fmad = false;
  for (const bool defaults : {false, true}) {
    wishes_.defaults = defaults;
    for (const size_t entry : {0, 1, 2}) EXPECT_FALSE(plan().drafts[0].at(entry).config.options.fmad) << entry;
  }
  wishes_.defaults = false;
  tuned_.push_back({"NVIDIA L4", 89, {best}});
  const std::string hash = report::plan_hash(plan().plan);
  tuned_[0].entries[0].config.options.maxrregcount = 64;
  EXPECT_EQ(plan().drafts[0].at(1).config.options, tuned_[0].entries[0].config.options);
  EXPECT_EQ(plan().plan.head.rows.at(0).cells.at(1).options, tuned_[0].entries[0].config.options);
  EXPECT_NE(report::plan_hash(plan().plan), hash) << "another plan";
}

TEST_F(BenchPlanTest, WhatIsUnknownOrNamedTwiceIsRefused) {
  wishes_.kernels = {"tiled", "tiled:NUM_WARPS=8", "tiled:NUM_WARPS=8,SYNC=light"};
  EXPECT_THAT(labels(), ElementsAre("tiled", "tiled NUM_WARPS=8", "tiled NUM_WARPS=8 light", "torch_attention flash",
                                    "torch_attention math"));
  wishes_.peers = {"tiled"};
  EXPECT_EQ(refusal(), "") << "a kernel may be its own peer";
  wishes_.kernels = {"tiled", "tiled"};
  EXPECT_EQ(refusal(), "tiled is asked for twice");
  wishes_.kernels = {"tiled:NUM_WARPS=8,SYNC=light", "tiled:SYNC=light,NUM_WARPS=8"};
  EXPECT_EQ(refusal(), "tiled light NUM_WARPS=8 is asked for twice");
  kernels_[1].knobs.push_back({"CHECK", {{0, "light"}}, 0, ""});
  wishes_.kernels = {"tiled:SYNC=light", "tiled:CHECK=light"};
  EXPECT_EQ(refusal(), "") << "two knobs with one label";
  wishes_.kernels = {"tilde"};
  EXPECT_EQ(refusal(), "--kernel tilde: there is no kernel \"tilde\"");
  wishes_.kernels = {};
  wishes_.peers = {"tiled:NUM_WARPS=5"};
  EXPECT_THAT(refusal(), HasSubstr("NUM_WARPS"));
  wishes_.peers = {"flash:NUM_WARPS=5"};
  EXPECT_EQ(refusal(), "--peer flash:NUM_WARPS=5: there is no kernel \"flash\"");
  wishes_.problems = {"B=x"};
  EXPECT_NE(refusal(), "");
  wishes_ = {};
  kernels_.erase(kernels_.begin(), kernels_.begin() + 3);
  EXPECT_EQ(refusal(), "there is no kernel to time");
}

TEST_F(BenchPlanTest, TheDefaultProblemsAreTheReportsAndLongRows) {
  const auto problems = bench_problems({});
  ASSERT_TRUE(problems);
  std::vector<std::string> texts;
  for (const Problem& problem : *problems) texts.push_back(short_text(problem));
  EXPECT_THAT(texts, ElementsAre("B1 H8 S512 D64", "B1 H8 S512 D64 causal", "B32 H8 S512 D64", "B4 H16 S4096 D64",
                                 "B4 H16 S4096 D128"));
  EXPECT_EQ(bench_problems({"S=77"})->size(), 1u);
}

TEST(EmulatedShare, IsAllOfASmallProblemAndAboutHalfASecondOfALargeOne) {
  const auto share = [](const char* text) { return sweep::emulated_share(problem_from_text(text).value()); };
  EXPECT_EQ(share("B=1,H=1,S=64,D=64"), 1);
  const Problem large = problem_from_text("B=4,H=16,S=4096,D=128").value();
  EXPECT_DOUBLE_EQ(sweep::emulated_share(large), 6e8 / large.flops());
  Problem huge = large;
  huge.batch = huge.heads = 4096;
  EXPECT_EQ(sweep::emulated_share(huge), 1e-6);
}

}  // namespace
}  // namespace attnscope::cli
