#include "worker/job_pool.h"

#include <gtest/gtest.h>

namespace attnscope::worker {
namespace {

TEST(JobPool, GivesTheResult) {
  JobPool pool(2);
  std::atomic<bool> cancel{false};
  EXPECT_EQ(pool.run<int>([] { return Result<int>(42); }, cancel).value(), 42);
  auto failed = pool.run<int>([]() -> Result<int> { return fail(Stage::compile, "no"); }, cancel);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().stage, Stage::compile);
}

TEST(JobPool, CancellingLeavesBegunWorkBehind) {
  std::atomic<bool> cancel{false};
  auto finished = std::make_shared<std::promise<void>>();
  auto may_finish = std::make_shared<std::promise<void>>();
  JobPool pool(1);
  auto left = pool.run<int>(
      [&cancel, finished, hold = may_finish->get_future().share()] {
        cancel = true;  // started: then its requester is cancelled
        hold.wait();
        finished->set_value();
        return Result<int>(1);
      },
      cancel);
  ASSERT_FALSE(left);
  EXPECT_EQ(left.error().stage, Stage::cancelled);
  may_finish->set_value();
  finished->get_future().wait();  // it ran to completion
}

TEST(JobPool, WorkThatWasNotBegunIsNotDone) {
  std::atomic<bool> cancelled{false}, run{false};
  auto hold = std::make_shared<std::promise<void>>();
  {
    JobPool pool(1);
    const auto wait = [&cancelled, held = hold->get_future().share()] {
      cancelled = true;  // once the only thread is busy
      held.wait();
      return Result<int>(1);
    };
    auto busy = pool.run<int>(wait, cancelled);
    EXPECT_FALSE(busy);
    auto never = pool.run<int>([&run] { return run = true, Result<int>(2); }, cancelled);
    EXPECT_FALSE(never);
    hold->set_value();
  }
  EXPECT_FALSE(run);
}

TEST(JobPool, HasAThreadForEachCoreWithinLimits) {
  EXPECT_EQ(JobPool::threads_for(2), 3u) << "the fewest";
  EXPECT_EQ(JobPool::threads_for(12), 12u);
  EXPECT_EQ(JobPool::threads_for(64), 17u) << "what a request says of the next configs keeps no more busy";
}

TEST(JobPool, WhatIsLeftNeverTakesAllThreads) {
  std::atomic<bool> cancel{false};
  std::promise<void> hold, begun;
  const auto held = hold.get_future().share();
  std::atomic<int> started{0};
  JobPool pool(2);
  for (int i = 0; i < 2; ++i)
    pool.leave([&, held] {
      if (++started == 1) begun.set_value();
      held.wait();
    });
  begun.get_future().wait();
  EXPECT_EQ(pool.run<int>([] { return Result<int>(7); }, cancel).value(), 7) << "one thread is free for it";
  EXPECT_EQ(started, 1);
  hold.set_value();
  while (started < 2) std::this_thread::yield();
}

}  // namespace
}  // namespace attnscope::worker
