#include <gtest/gtest.h>

#include <cstdlib>

#include "support/no_threads.h"
#include "support/temp_dir.h"
#include "worker/kept_runs.h"
#include "worker/truth_maker.h"

namespace attnscope::worker {
namespace {

Problem small(uint64_t seed = 0) {
  Problem problem;
  problem.heads = problem.kv_heads = 1;
  problem.seq_q = problem.seq_k = 32;
  problem.seed = seed;
  return problem;
}

TEST(TruthMaker, MakesAndRemembers) {
  testing_support::TempDir folder;
  TruthMaker maker(folder / "references");
  const Truth first = maker.want(small(), check::Accumulate::f32);
  ASSERT_TRUE(first.inputs.get());
  ASSERT_TRUE(first.reference.get());
  EXPECT_EQ((*first.reference.get())->rows_total(), 32);
  const Truth same = maker.want(small(), check::Accumulate::f32);
  EXPECT_EQ(same.reference.get()->get(), first.reference.get()->get()) << "not made twice";
  const Truth other = maker.want(small(1), check::Accumulate::f32);
  EXPECT_NE((*other.reference.get())->values, (*first.reference.get())->values);
  EXPECT_FALSE(std::filesystem::is_empty(folder / "references"));
}

TEST(TruthMaker, WithoutAThreadTheTruthIsARefusal) {
  if (!testing_support::threads_can_be_refused()) GTEST_SKIP() << "this system does not hold RLIMIT_NPROC";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto refused = [](TruthMaker& maker) {
    const Truth truth = maker.want(small(), check::Accumulate::f32);
    const auto inputs = truth.inputs.get();
    const auto reference = truth.reference.get();
    return !inputs && inputs.error().stage == Stage::limits && !reference && reference.error() == inputs.error();
  };
  EXPECT_EXIT(
      {
        testing_support::refuse_threads();
        TruthMaker maker({});
        std::_Exit(refused(maker) && refused(maker) ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(TruthMaker, WhatADeviceMakesIsKeptForTheNext) {
  testing_support::TempDir folder;
  TruthMaker maker(folder / "references");
  const Truth wanted = maker.want(small(), check::Accumulate::f32, TruthMaker::Wanted::stored_reference);
  ASSERT_TRUE(wanted.inputs.get() && wanted.reference.get());
  EXPECT_EQ(*wanted.inputs.get(), nullptr) << "the device makes them";
  EXPECT_EQ(*wanted.reference.get(), nullptr) << "the device makes it";
  const auto inputs = check::make_inputs(small());
  ASSERT_TRUE(inputs);
  const auto made = check::make_reference(small(), *inputs, check::Accumulate::f32);
  ASSERT_TRUE(made);
  maker.keep(*made);
  EXPECT_EQ(*maker.want(small(), check::Accumulate::f32, TruthMaker::Wanted::stored_reference).reference.get(), *made);
  // A watch of the same problem needs inputs here too; the reference stays.
  const Truth watched = maker.want(small(), check::Accumulate::f32, TruthMaker::Wanted::inputs);
  ASSERT_TRUE(watched.inputs.get() && *watched.inputs.get());
  EXPECT_EQ((*watched.inputs.get())->q, inputs->q);
  EXPECT_EQ(*watched.reference.get(), *made);
  EXPECT_EQ(*maker.want(small(), check::Accumulate::f32).reference.get(), *made) << "not made twice";
  TruthMaker other_process(folder / "references");
  const auto found =
      *other_process.want(small(), check::Accumulate::f32, TruthMaker::Wanted::stored_reference).reference.get();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->values, (*made)->values);
}

TEST(TruthMaker, AnotherProblemEndsTheMaking) {
  TruthMaker maker({});
  Problem large;
  large.heads = large.kv_heads = 16;
  large.seq_q = large.seq_k = 4096;
  const Truth abandoned = maker.want(large, check::Accumulate::f32);
  const Truth wanted = maker.want(small(), check::Accumulate::f32);
  ASSERT_TRUE(wanted.reference.get());
  const ReferenceResult& left = abandoned.reference.get();
  if (!left) {
    EXPECT_EQ(left.error().stage, Stage::cancelled);
  }
  // A second request makes it again: a cancelled making is never remembered.
  const Truth again = maker.want(large, check::Accumulate::f32);
  EXPECT_TRUE(again.inputs.get());
}

KeptRun run_of(const std::string& hash) {
  auto output = std::make_shared<check::GuardedBuffer>("o", static_cast<size_t>(small().q_elements()) * 2);
  return {hash, small(), std::move(output), nullptr};
}

TEST(KeptRuns, TheLatestFewAreKept) {
  KeptRuns kept(2);
  kept.keep(run_of("a"));
  kept.keep(run_of("b"));
  kept.keep(run_of("a"));  // again: no second slot taken
  kept.keep(run_of("c"));
  const auto view = [&](const std::string& hash) {
    return kept.view({.experiment_hash = hash, .map = MapKind::output});
  };
  EXPECT_TRUE(view("a"));
  EXPECT_TRUE(view("c"));
  auto gone = view("b");
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().stage, Stage::device);
}

TEST(KeptRuns, BytesAreCappedButTheLatestStays) {
  KeptRuns kept(10, 1);
  kept.keep(run_of("a"));
  kept.keep(run_of("b"));
  EXPECT_FALSE(kept.view({.experiment_hash = "a", .map = MapKind::output}));
  EXPECT_TRUE(kept.view({.experiment_hash = "b", .map = MapKind::output}));
}

}  // namespace
}  // namespace attnscope::worker
