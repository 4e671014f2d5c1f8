#include "worker/progress_clock.h"

#include <gtest/gtest.h>

namespace attnscope::worker {
namespace {

using protocol::Progress;
using protocol::Step;

constexpr protocol::Deadlines kDeadlines{.compile_ms = 6000, .emulated_ms = 500, .launch_ms = 200};

void pass(ProgressClock& clock, int64_t ms) {
  for (; ms > 0; ms -= 20) clock.tick(20);
}

TEST(ProgressClock, EachStepHasItsDeadline) {
  ProgressClock clock(kDeadlines, true);
  pass(clock, 6000);
  EXPECT_FALSE(clock.expired());
  pass(clock, 20);
  EXPECT_TRUE(clock.expired());
  clock.on_progress({1, Step::emulating, 0, 128});
  EXPECT_FALSE(clock.expired());
  pass(clock, 520);
  EXPECT_TRUE(clock.expired());
  EXPECT_EQ(clock.limit_ms(), 500);
  clock.on_progress({1, Step::checking, 0, 0});
  pass(clock, 520);
  EXPECT_FALSE(clock.expired());
}

TEST(ProgressClock, AGpuHasItsOwn) {
  ProgressClock clock(kDeadlines, false);
  clock.on_progress({1, Step::emulating, 0, 0});
  EXPECT_EQ(clock.limit_ms(), 200);
  EXPECT_EQ(clock.where(), "running");
}

TEST(ProgressClock, OnlyMoreDoneIsProgress) {
  ProgressClock clock(kDeadlines, true);
  clock.on_progress({1, Step::emulating, 43, 128});
  for (int i = 0; i < 60; ++i) {
    clock.on_progress({1, Step::emulating, 43, 128});
    clock.tick(20);
  }
  EXPECT_TRUE(clock.expired());
  clock.on_progress({1, Step::emulating, 44, 128});
  EXPECT_FALSE(clock.expired());
}

TEST(ProgressClock, AFinalPartIsProgress) {
  ProgressClock clock(kDeadlines, true);
  clock.on_progress({1, Step::emulating, 1, 2});
  pass(clock, 520);
  clock.on_final_part();
  EXPECT_FALSE(clock.expired());
}

TEST(ProgressClock, TheSupervisorsOwnAbsenceCountsLittle) {
  ProgressClock clock(kDeadlines, true);
  clock.on_progress({1, Step::emulating, 1, 2});
  clock.tick(3600 * 1000);  // a machine that slept, a supervisor that was stopped
  EXPECT_FALSE(clock.expired());
}

TEST(ProgressClock, OnlyTheExecutorsOwnTimeCountsUpToALimit) {
  ProgressClock starved(kDeadlines, true);
  starved.on_progress({1, Step::emulating, 1, 2});
  for (int i = 0; i < 45; ++i) starved.tick(100, 0.1);  // 4.5 s by the clock, 0.45 s of its own
  EXPECT_FALSE(starved.expired());
  EXPECT_EQ(starved.idle_ms(), 4500);
  starved.tick(100, 0.6);
  EXPECT_TRUE(starved.expired());
  ProgressClock never_ran(kDeadlines, true);
  never_ran.on_progress({1, Step::emulating, 1, 2});
  for (int i = 0; i < 60; ++i) never_ran.tick(100, 0);
  EXPECT_FALSE(never_ran.expired());
  never_ran.tick(100, 0);
  EXPECT_TRUE(never_ran.expired()) << "patience ends at 12 deadlines";
}

TEST(ProgressClock, AGpuRunsHoweverBusyTheProcessorsAre) {
  ProgressClock clock(kDeadlines, false);
  clock.on_progress({1, Step::emulating, 0, 0});
  for (int i = 0; i < 3; ++i) clock.tick(100, 0);
  EXPECT_TRUE(clock.expired());
}

TEST(ProgressClock, SaysWhere) {
  ProgressClock clock(kDeadlines, true);
  EXPECT_EQ(clock.where(), "compiling");
  clock.on_progress({1, Step::emulating, 43, 128});
  EXPECT_EQ(clock.where(), "emulating, 43 of 128 CTAs");
}

}  // namespace
}  // namespace attnscope::worker
