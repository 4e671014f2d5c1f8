#include "session/answer_clock.h"

#include <gtest/gtest.h>

namespace attnscope::session {
namespace {

// Feeds one tick after another until the clock has had enough. Returns the time that took, or -1 after an hour.
int64_t patience_of(AnswerClock& clock, bool idle) {
  for (int64_t ms = 100; ms <= 3600 * 1000; ms += 100)
    if (clock.tick(100, idle)) return ms;
  return -1;
}

TEST(AnswerClock, AnIdleWorkerIsWaitedForAShortTimeABusyOneLonger) {
  AnswerClock clock;
  clock.sent(1000, 20000);
  EXPECT_EQ(patience_of(clock, true), 1100);
  clock.sent(1000, 20000);
  EXPECT_EQ(patience_of(clock, false), 20100);
}

TEST(AnswerClock, AMessageAboutTheRequestRestartsTheWait) {
  AnswerClock clock;
  clock.sent(1000, 2000);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(clock.tick(900, false));
    EXPECT_FALSE(clock.tick(900, true));
    clock.moved();
  }
}

TEST(AnswerClock, TimeAsIdleCountsInOnePiece) {
  AnswerClock clock;
  clock.sent(1000, 100000);
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(clock.tick(900, true));
    EXPECT_FALSE(clock.tick(100, false)) << "it says that it is busy: it has the request after all";
  }
}

TEST(AnswerClock, OneThatWasAskedToStopHasTheShortTimeHoweverBusy) {
  AnswerClock clock;
  clock.sent(1000, 100000);
  EXPECT_FALSE(clock.tick(900, false));
  clock.asked_to_stop();
  EXPECT_EQ(patience_of(clock, false), 1100);
}

TEST(AnswerClock, OurOwnAbsenceIsOneShortTickAndNoRequestNoWait) {
  AnswerClock clock;
  clock.sent(5000, 5000);
  EXPECT_FALSE(clock.tick(3600 * 1000, true));
  clock.over();
  EXPECT_EQ(patience_of(clock, true), -1);
}

}  // namespace
}  // namespace attnscope::session
