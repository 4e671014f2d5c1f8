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

// Both kinds of device, at every step.
TEST(ProgressClock, EveryStepHasItsLimitAndItsOwner) {
  struct At {
    Step step;
    int64_t emulated, gpu;
    bool emulates, emulates_on_gpu;
  };
  for (const At& at : {At{Step::compiling, 6000, 6000, false, false}, At{Step::limits, 6000, 6000, false, false},
                       At{Step::emulating, 500, 200, true, false}, At{Step::watching, 500, 500, true, true},
                       At{Step::checking, 6000, 6000, false, false}, At{Step::measuring, 200, 200, false, false}}) {
    ProgressClock emulated(kDeadlines, true), gpu(kDeadlines, false);
    for (ProgressClock* clock : {&emulated, &gpu}) clock->on_progress({1, at.step, 1, 2});
    EXPECT_EQ(emulated.limit_ms(), at.emulated) << to_string(at.step);
    EXPECT_EQ(gpu.limit_ms(), at.gpu) << to_string(at.step);
    EXPECT_EQ(emulated.emulating(), at.emulates) << to_string(at.step);
    EXPECT_EQ(gpu.emulating(), at.emulates_on_gpu) << to_string(at.step);
    // Work that the executor does not do itself counts only on a GPU.
    for (int64_t ms = 0; ms <= at.gpu; ms += 100) gpu.tick(100, 0), emulated.tick(100, 0);
    EXPECT_EQ(gpu.expired(), !at.emulates_on_gpu && at.step != Step::compiling) << to_string(at.step);
    EXPECT_FALSE(emulated.expired()) << to_string(at.step);
  }
}

TEST(ProgressClock, ATickCountsUpToTwoTenthsOfASecond) {
  ProgressClock clock(kDeadlines, true);
  clock.on_progress({1, Step::emulating, 1, 2});
  for (const int64_t ms : {199, 200, 201, 5000}) clock.tick(ms);
  EXPECT_EQ(clock.idle_ms(), 199 + 3 * 200);
  EXPECT_TRUE(clock.expired());
  clock.on_final_part();
  EXPECT_EQ(clock.idle_ms(), 0);
}

TEST(ProgressClock, SaysWhere) {
  ProgressClock clock(kDeadlines, true);
  EXPECT_EQ(clock.where(), "compiling");
  clock.on_progress({1, Step::emulating, 43, 128});
  EXPECT_EQ(clock.where(), "emulating, 43 of 128 CTAs");
  clock.on_progress({1, Step::checking, 0, 0});
  EXPECT_EQ(clock.where(), "checking") << "nothing is counted";
}

}  // namespace
}  // namespace attnscope::worker
