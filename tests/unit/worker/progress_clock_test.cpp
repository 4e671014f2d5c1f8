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

TEST(ProgressClock, SaysWhere) {
  ProgressClock clock(kDeadlines, true);
  EXPECT_EQ(clock.where(), "compiling");
  clock.on_progress({1, Step::emulating, 43, 128});
  EXPECT_EQ(clock.where(), "emulating, 43 of 128 CTAs");
}

}  // namespace
}  // namespace attnscope::worker
