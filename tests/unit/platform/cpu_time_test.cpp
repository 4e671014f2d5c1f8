#include "platform/cpu_time.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <limits>
#include <thread>

namespace attnscope::platform {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(OwnShare, WhoRanAsMuchAsItWantedAnswersForAllOfIt) {
  EXPECT_DOUBLE_EQ(own_share(kSecond, {kSecond, 0}, 4), 1);
  EXPECT_DOUBLE_EQ(own_share(kSecond, {4 * kSecond, 0}, 4), 1);
}

TEST(OwnShare, WhoSleepsAnswersForIt) {
  EXPECT_DOUBLE_EQ(own_share(kSecond, {0, 0}, 4), 1);
  EXPECT_DOUBLE_EQ(own_share(kSecond, {kSecond / 10, 0}, 4), 1);
  EXPECT_DOUBLE_EQ(own_share(kSecond, {kSecond / 10, kSecond / 5}, 4), 0.8);
}

TEST(OwnShare, WhatOthersTookIsNotCounted) {
  EXPECT_DOUBLE_EQ(own_share(kSecond, {0, kSecond}, 4), 0);
  EXPECT_DOUBLE_EQ(own_share(kSecond, {kSecond / 10, 9 * kSecond / 10}, 1), 0.1);
  EXPECT_DOUBLE_EQ(own_share(kSecond, {kSecond, kSecond}, 2), 0.5) << "two threads on two processors, half taken";
}

TEST(OwnShare, ItsOwnThreadsTakingTurnsIsItsOwnDoing) {
  EXPECT_DOUBLE_EQ(own_share(kSecond, {2 * kSecond, 14 * kSecond}, 2), 1);
  EXPECT_DOUBLE_EQ(own_share(kSecond, {1 * kSecond, 15 * kSecond}, 2), 0.5);
}

TEST(OwnShare, NonsenseStaysWithinItsBounds) {
  EXPECT_EQ(own_share(0, {1, 1}, 1), 1);
  EXPECT_EQ(own_share(kSecond, {-5, std::numeric_limits<int64_t>::max() / 2}, 0), 0);
  EXPECT_EQ(own_share(1, {kSecond, 0}, 1), 1);
}

TEST(CpuTimeOf, ThisProcessRanAndNoProcessDidNot) {
  const auto before = cpu_time_of(getpid());
  if (!before) GTEST_SKIP() << "this system keeps no scheduler statistics";
  volatile int64_t sum = 0;
  for (int64_t i = 0; i < 30'000'000; ++i) sum = sum + i;
  EXPECT_GT(cpu_time_of(getpid())->ran_ns, before->ran_ns);
  EXPECT_FALSE(cpu_time_of(std::numeric_limits<pid_t>::max()));
  EXPECT_GE(usable_processors(), 1);
}

// What the kernel reports for this process's threads, before and after.
TEST(CpuTimeOf, IsTheSumOfItsThreads) {
  const auto told = [] {
    CpuTime sum;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::ifstream file(task.path() / "schedstat");
      int64_t ran = 0, waited = 0;
      file >> ran >> waited;
      sum.ran_ns += ran, sum.waited_ns += waited;
    }
    return sum;
  };
  std::promise<void> over;
  std::thread second([end = over.get_future().share()] { end.wait(); });
  const CpuTime before = told();
  const auto time = cpu_time_of(getpid());
  const CpuTime after = told();
  over.set_value();
  second.join();
  if (!time) GTEST_SKIP() << "this system keeps no scheduler statistics";
  EXPECT_LE(before.ran_ns, time->ran_ns);
  EXPECT_LE(time->ran_ns, after.ran_ns);
  EXPECT_LE(before.waited_ns, time->waited_ns);
  EXPECT_LE(time->waited_ns, after.waited_ns);
}

TEST(UsableProcessors, AreThoseThatThisProcessMayUse) {
  EXPECT_EQ(usable_processors(), static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace
}  // namespace attnscope::platform
