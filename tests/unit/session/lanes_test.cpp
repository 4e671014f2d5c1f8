#include "session/lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace attnscope::session {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Step = Lanes::Step;

TEST(Lanes, NothingIsSentBeforeTheWorkerSaysHello) {
  Lanes lanes;
  EXPECT_THAT(lanes.ask(Lane::focus, 1).send, IsEmpty());
  EXPECT_THAT(lanes.ask(Lane::queue, 2).send, IsEmpty());
  EXPECT_THAT(lanes.connected().send, ElementsAre(1));
  EXPECT_THAT(lanes.done(1, false).send, ElementsAre(2));
}

TEST(Lanes, FocusLatestWins) {
  Lanes lanes;
  lanes.connected();
  EXPECT_THAT(lanes.ask(Lane::focus, 1).send, ElementsAre(1));
  Step second = lanes.ask(Lane::focus, 2);
  EXPECT_THAT(second.cancel, ElementsAre(1));
  EXPECT_THAT(second.send, IsEmpty());
  Step third = lanes.ask(Lane::focus, 3);
  EXPECT_THAT(third.superseded, ElementsAre(2));
  EXPECT_THAT(third.cancel, IsEmpty()) << "a request is cancelled once";
  Step done = lanes.done(1, true);
  EXPECT_TRUE(done.answered);
  EXPECT_THAT(done.send, ElementsAre(3));
}

TEST(Lanes, FocusWaitsForTheQueuesCurrentRequestAndGoesBeforeTheNext) {
  Lanes lanes;
  lanes.connected();
  lanes.ask(Lane::queue, 1);
  lanes.ask(Lane::queue, 2);
  Step focus = lanes.ask(Lane::focus, 3);
  EXPECT_THAT(focus.cancel, IsEmpty());
  EXPECT_THAT(focus.send, IsEmpty());
  EXPECT_THAT(lanes.done(1, false).send, ElementsAre(3));
  EXPECT_THAT(lanes.done(3, false).send, ElementsAre(2));
}

TEST(Lanes, ViewsComeBetweenFocusAndQueueAndTheOldestGivesWay) {
  Lanes lanes;
  lanes.connected();
  lanes.ask(Lane::focus, 1);
  lanes.ask(Lane::queue, 2);
  lanes.ask(Lane::view, 10);
  EXPECT_THAT(lanes.done(1, false).send, ElementsAre(10));
  for (JobId job = 11; job < 11 + Lanes::kMaxViews; ++job)
    EXPECT_THAT(lanes.ask(Lane::view, job).superseded, IsEmpty());
  EXPECT_THAT(lanes.ask(Lane::view, 100).superseded, ElementsAre(11));
}

TEST(Lanes, BackgroundIsPreemptedAndStartsAgain) {
  Lanes lanes;
  lanes.connected();
  lanes.ask(Lane::background, 1);
  Step focus = lanes.ask(Lane::focus, 2);
  EXPECT_THAT(focus.cancel, ElementsAre(1));
  Step ended = lanes.done(1, true);
  EXPECT_FALSE(ended.answered);
  EXPECT_THAT(ended.send, ElementsAre(2));
  EXPECT_THAT(lanes.done(2, false).send, ElementsAre(1));
}

TEST(Lanes, BackgroundThatFinishedBeforeItsCancelArrivedIsAnswered) {
  Lanes lanes;
  lanes.connected();
  lanes.ask(Lane::background, 1);
  lanes.ask(Lane::focus, 2);
  EXPECT_TRUE(lanes.done(1, false).answered);
  EXPECT_THAT(lanes.done(2, false).send, IsEmpty());
}

TEST(Lanes, DroppedBackgroundDoesNotStartAgain) {
  Lanes lanes;
  lanes.connected();
  lanes.ask(Lane::background, 1);
  lanes.ask(Lane::background, 2);
  Step drop = lanes.cancel(Lane::background);
  EXPECT_THAT(drop.superseded, ElementsAre(2));
  EXPECT_THAT(drop.cancel, ElementsAre(1));
  Step done = lanes.done(1, true);
  EXPECT_TRUE(done.answered);
  EXPECT_TRUE(lanes.idle());
}

TEST(Lanes, ALostConnectionSendsAgainAtTheHead) {
  Lanes lanes;
  lanes.connected();
  lanes.ask(Lane::queue, 1);
  lanes.ask(Lane::queue, 2);
  EXPECT_THAT(lanes.disconnected().lost, IsEmpty());
  EXPECT_THAT(lanes.connected().send, ElementsAre(1));
}

TEST(Lanes, ARequestThatTakesItsWorkerDownEveryTimeIsLostInTheEnd) {
  Lanes lanes;
  lanes.ask(Lane::queue, 1);
  lanes.ask(Lane::queue, 2);
  for (int attempt = 1; attempt < Lanes::kMaxAttempts; ++attempt) {
    EXPECT_THAT(lanes.connected().send, ElementsAre(1));
    EXPECT_THAT(lanes.disconnected().lost, IsEmpty());
  }
  EXPECT_THAT(lanes.connected().send, ElementsAre(1));
  EXPECT_THAT(lanes.disconnected().lost, ElementsAre(1));
  EXPECT_THAT(lanes.connected().send, ElementsAre(2));
}

TEST(Lanes, ASupersededFocusIsNotSentAgainAfterALostConnection) {
  Lanes lanes;
  lanes.connected();
  lanes.ask(Lane::focus, 1);
  lanes.ask(Lane::focus, 2);
  EXPECT_THAT(lanes.disconnected().superseded, ElementsAre(1));
  EXPECT_THAT(lanes.connected().send, ElementsAre(2));
}

TEST(Lanes, CancelFocusEndsBoth) {
  Lanes lanes;
  lanes.connected();
  lanes.ask(Lane::focus, 1);
  lanes.ask(Lane::focus, 2);
  EXPECT_THAT(lanes.cancel(Lane::focus).superseded, ElementsAre(2));
  EXPECT_TRUE(lanes.done(1, true).answered);
  EXPECT_TRUE(lanes.idle());
}

TEST(Lanes, AScanComesLastAndGivesWay) {
  Lanes lanes;
  lanes.ask(Lane::scan, 1);
  lanes.ask(Lane::background, 2);
  lanes.ask(Lane::queue, 3);
  EXPECT_THAT(lanes.connected().send, ElementsAre(3));
  EXPECT_THAT(lanes.done(3, false).send, ElementsAre(2));
  EXPECT_THAT(lanes.done(2, false).send, ElementsAre(1));
  EXPECT_THAT(lanes.ask(Lane::background, 4).cancel, IsEmpty()) << "a watch waits for the value that runs";
  EXPECT_THAT(lanes.ask(Lane::focus, 5).cancel, ElementsAre(1));
  const Step preempted = lanes.done(1, true);
  EXPECT_FALSE(preempted.answered);
  EXPECT_THAT(preempted.send, ElementsAre(5));
  EXPECT_THAT(lanes.done(5, false).send, ElementsAre(4));
  EXPECT_THAT(lanes.done(4, false).send, ElementsAre(1)) << "it starts again";
  EXPECT_THAT(lanes.cancel(Lane::scan).cancel, ElementsAre(1));
  EXPECT_TRUE(lanes.done(1, true).answered);
  EXPECT_TRUE(lanes.idle());
}

TEST(Lanes, GivingUpLosesEverythingOnce) {
  Lanes lanes;
  lanes.connected();
  lanes.ask(Lane::queue, 1);
  lanes.ask(Lane::queue, 2);
  lanes.ask(Lane::focus, 3);
  lanes.ask(Lane::view, 4);
  lanes.ask(Lane::background, 5);
  lanes.ask(Lane::scan, 6);
  EXPECT_THAT(lanes.give_up().lost, testing::UnorderedElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_TRUE(lanes.idle());
  EXPECT_THAT(lanes.give_up().lost, IsEmpty());
}

TEST(Lanes, WhatIsHeldWaitsAndOthersPassIt) {
  Lanes lanes;
  lanes.connected();
  lanes.ask(Lane::queue, 1);
  EXPECT_THAT(lanes.hold([](JobId job) { return job % 2 == 1; }).cancel, IsEmpty()) << "what is in flight stays";
  lanes.ask(Lane::queue, 3);
  lanes.ask(Lane::queue, 4);
  EXPECT_THAT(lanes.done(1, false).send, ElementsAre(4));
  EXPECT_THAT(lanes.done(4, false).send, IsEmpty());
  EXPECT_THAT(lanes.ask(Lane::focus, 5).send, IsEmpty());
  EXPECT_FALSE(lanes.idle());
  EXPECT_THAT(lanes.ask(Lane::focus, 7).superseded, ElementsAre(5)) << "the latest wins among those that wait";
  EXPECT_THAT(lanes.hold({}).send, ElementsAre(7));
  EXPECT_THAT(lanes.done(7, false).send, ElementsAre(3));
}

TEST(Lanes, AnAnswerToAnUnknownRequestChangesNothing) {
  Lanes lanes;
  lanes.connected();
  lanes.ask(Lane::queue, 1);
  Step step = lanes.done(99, false);
  EXPECT_FALSE(step.answered);
  EXPECT_THAT(step.send, IsEmpty());
  EXPECT_EQ(lanes.in_flight(), JobId{1});
}

// A worker answers, crashes and honours cancels at random. Each queue request still ends exactly once, and the last
// focus request is never dropped.
TEST(Lanes, EveryQueueRequestEndsExactlyOnceWhateverHappens) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    Lanes lanes;
    std::map<JobId, int> ended;
    std::set<JobId> queued, cancelling;
    std::optional<JobId> wire, last_focus;
    bool up = false;
    JobId next = 1;
    auto carry_out = [&](const Step& step) {
      for (JobId job : step.superseded) ++ended[job];
      for (JobId job : step.lost) ++ended[job];
      for (JobId job : step.cancel) cancelling.insert(job);
      for (JobId job : step.send) {
        EXPECT_TRUE(up);
        EXPECT_FALSE(wire) << "one request in flight";
        wire = job;
      }
    };
    auto answer = [&] {
      const JobId job = *std::exchange(wire, std::nullopt);
      Step step = lanes.done(job, cancelling.contains(job) && random() % 2);
      if (step.answered) ++ended[job];
      carry_out(step);
    };
    for (int event = 0; event < 200; ++event) {
      switch (random() % 8) {
        case 0:
          last_focus = next, carry_out(lanes.ask(Lane::focus, next++));
          break;
        case 1:
        case 2:
          queued.insert(next), carry_out(lanes.ask(Lane::queue, next++));
          break;
        case 3:
          carry_out(lanes.ask(Lane::background, next++));
          break;
        case 4:
          carry_out(lanes.ask(Lane::view, next++));
          break;
        case 5:
          if (!up) up = true, carry_out(lanes.connected());
          break;
        case 6:
          if (up && random() % 4 == 0) up = false, wire.reset(), carry_out(lanes.disconnected());
          break;
        default:
          if (wire) answer();
      }
      ASSERT_EQ(lanes.in_flight(), wire);
    }
    if (!up) up = true, carry_out(lanes.connected());
    while (wire) answer();
    EXPECT_TRUE(lanes.idle());
    for (JobId job : queued) EXPECT_EQ(ended[job], 1) << "queue request " << job << ", seed " << seed;
    if (last_focus) {
      EXPECT_EQ(ended[*last_focus], 1);
    }
  }
}

TEST(Lanes, ARequestThatIsNotAnsweredEndsAndTheNextWaitsForAnotherWorker) {
  Lanes lanes;
  lanes.connected();
  lanes.ask(Lane::queue, 1);
  lanes.ask(Lane::queue, 2);
  const Step step = lanes.abandon();
  EXPECT_THAT(step.lost, ElementsAre(1));
  EXPECT_THAT(step.send, IsEmpty());
  EXPECT_THAT(lanes.disconnected().lost, IsEmpty());
  EXPECT_THAT(lanes.connected().send, ElementsAre(2));
}

TEST(Lanes, ARequestThatIsAnsweredHereIsNotSentAgainAndTheNextWaitsForTheWorker) {
  for (const Lane lane : {Lane::focus, Lane::queue, Lane::background}) {
    Lanes lanes;
    lanes.connected();
    lanes.ask(lane, 1);
    if (lane == Lane::background) lanes.ask(Lane::view, 2);  // pre-empts it
    lanes.answered_here();
    EXPECT_THAT(lanes.ask(Lane::queue, 3).send, IsEmpty());
    EXPECT_THAT(lanes.cancel(lane == Lane::queue ? Lane::focus : lane).cancel, IsEmpty()) << "it is over";
    EXPECT_TRUE(lanes.done(1, true).answered);
    EXPECT_EQ(lanes.in_flight(), JobId{lane == Lane::background ? 2u : 3u});
  }
  Lanes lanes;
  lanes.connected();
  lanes.ask(Lane::queue, 1);
  lanes.ask(Lane::queue, 2);
  lanes.answered_here();
  EXPECT_THAT(lanes.disconnected().superseded, ElementsAre(1));
  EXPECT_THAT(lanes.connected().send, ElementsAre(2));
}

TEST(Lanes, ACancelledRequestThatIsNotAnsweredIsOverAndAPreemptedOneWaitsAgain) {
  Lanes lanes;
  lanes.connected();
  lanes.ask(Lane::focus, 1);
  lanes.ask(Lane::focus, 2);
  EXPECT_THAT(lanes.abandon().superseded, ElementsAre(1));
  EXPECT_THAT(lanes.connected().send, ElementsAre(2));
  lanes.done(2, false);
  lanes.ask(Lane::background, 3);
  lanes.ask(Lane::focus, 4);
  Step step = lanes.abandon();
  EXPECT_THAT(step.superseded, IsEmpty());
  EXPECT_THAT(step.lost, IsEmpty());
  EXPECT_THAT(lanes.connected().send, ElementsAre(4));
  EXPECT_THAT(lanes.done(4, false).send, ElementsAre(3));
}

}  // namespace
}  // namespace attnscope::session
