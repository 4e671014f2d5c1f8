#include "session/focus_lane.h"

#include <gtest/gtest.h>

#include "unit/session/drafts_for_tests.h"

namespace attnscope::session {
namespace {

using Next = FocusLane::Next;

Shared<Kernel> tiled() {
  Kernel kernel;
  kernel.id = "tiled";
  kernel.knobs = {{"NUM_WARPS", {{4, ""}, {8, ""}, {16, ""}}, 4, ""}};
  return share(std::move(kernel));
}

DeviceSpec emulated(const std::string& id) {
  DeviceSpec spec;
  spec.id = id;
  return spec;
}

FocusLane::Request request(int64_t warps, uint64_t gesture = 0, bool again = false) {
  return {.draft = draft(warps), .gesture = {gesture, true, "to " + std::to_string(warps)}, .again = again};
}

// What resolve() says about it.
Resolution resolved(int64_t warps) {
  Resolution r;
  r.experiment = {draft(warps), "k1"};
  r.kernel = tiled();
  return r;
}
Resolution refused(int64_t warps) {
  Resolution r = resolved(warps);
  r.failure = Failure{Stage::input, "no such value", ""};
  return r;
}
Resolution waiting(int64_t warps) {
  Resolution r = resolved(warps);
  r.wait = true;
  return r;
}

int64_t warps_of(const FocusLane& lane) { return lane.wanted().config.knobs.at("NUM_WARPS"); }

class FocusLaneTest : public testing::Test {
 protected:
  FocusLaneTest() : devices_({"local"}, {emulated("emulated:l4")}) {
    devices_.set_devices(0, {emulated("emulated:l4")}, false);
  }

  Next ask(int64_t warps, uint64_t gesture = 0) { return lane_.ask(request(warps, gesture), resolved(warps)); }
  // A run from its request to its end, as an entry of the history.
  Shared<Observation> run(int64_t warps, uint64_t run, const std::string& code = "") {
    EXPECT_EQ(ask(warps), Next::run);
    lane_.started(++job_);
    VariantInfo variant;
    variant.code_hash = code.empty() ? "code of " + std::to_string(warps) : code;
    lane_.take_part({job_, {variant}});
    auto observation = lane_.finish(std::nullopt);
    lane_.keep(observation, run);
    return observation;
  }
  Next undo() { return lane_.undo(devices_, place_); }
  Next redo() { return lane_.redo(devices_, place_); }

  FocusLane lane_;
  DeviceTable devices_;
  DeviceTable::Place place_;
  JobId job_ = 100;
};

TEST_F(FocusLaneTest, WhatRunsOrHasRunIsNotRunTwiceUnlessAskedAgain) {
  EXPECT_EQ(ask(4), Next::run);
  lane_.started(1);
  EXPECT_EQ(ask(4), Next::nothing) << "it runs";
  lane_.finish(std::nullopt);
  EXPECT_EQ(ask(4), Next::nothing) << "it has run";
  EXPECT_EQ(lane_.ask(request(4, 0, true), resolved(4)), Next::run);
  EXPECT_FALSE(lane_.can_undo()) << "the same experiment is one state";
  lane_.started(2);
  lane_.finish(Failure{Stage::crash, "gone", ""});
  EXPECT_EQ(ask(4), Next::run) << "it failed";
}

TEST_F(FocusLaneTest, TheEndOfADragAsksForNothingNewEvenAfterAFailure) {
  EXPECT_EQ(ask(8, 7), Next::run);
  EXPECT_EQ(lane_.gesture(), 7u);
  lane_.started(1);
  lane_.finish(Failure{Stage::crash, "gone", ""});
  EXPECT_EQ(ask(8, 7), Next::nothing);
  EXPECT_EQ(ask(8, 8), Next::run) << "another gesture tries again";
}

TEST_F(FocusLaneTest, ARefusalIsShownAndIsAStateToComeBackTo) {
  run(4, 1);
  EXPECT_EQ(lane_.ask(request(5), refused(5)), Next::show);
  EXPECT_FALSE(lane_.running());
  EXPECT_EQ(lane_.view().failure->message, "no such value");
  EXPECT_EQ(undo(), Next::show);
  EXPECT_EQ(warps_of(lane_), 4);
  EXPECT_EQ(redo(), Next::show);
  EXPECT_EQ(warps_of(lane_), 5);
  EXPECT_EQ(lane_.view().failure->message, "no such value");
}

TEST_F(FocusLaneTest, ARequestWaitsUntilItIsReleasedOrAnotherComes) {
  EXPECT_EQ(lane_.ask(request(4), waiting(4)), Next::wait);
  EXPECT_TRUE(lane_.running());
  const auto held = lane_.release();
  ASSERT_TRUE(held);
  EXPECT_EQ(held->draft, draft(4));
  EXPECT_FALSE(lane_.release());
  lane_.ask(request(4), waiting(4));
  ask(8);
  EXPECT_FALSE(lane_.release()) << "the latest wins";
  lane_.ask(request(4), waiting(4));
  EXPECT_EQ(undo(), Next::nothing);
  EXPECT_TRUE(lane_.release()) << "an undo that has nowhere to go changes nothing";
}

TEST_F(FocusLaneTest, UndoShowsWhatWasKeptAndRunsWhatNeverEnded) {
  const auto first = run(4, 1);
  EXPECT_EQ(ask(8), Next::run);
  lane_.started(200);  // left before it ended
  run(16, 2);
  EXPECT_EQ(undo(), Next::run);
  EXPECT_EQ(place_.id, "emulated:l4");
  EXPECT_EQ(warps_of(lane_), 8);
  EXPECT_TRUE(lane_.running());
  EXPECT_EQ(undo(), Next::show);
  EXPECT_EQ(lane_.view().shown, first);
  EXPECT_EQ(lane_.view().run, 1u);
  EXPECT_EQ(undo(), Next::nothing);
  EXPECT_EQ(redo(), Next::run);
  devices_ = DeviceTable({"local"}, {});
  devices_.set_devices(0, {}, false);
  undo();
  EXPECT_EQ(redo(), Next::show) << "its device has gone";
  EXPECT_EQ(lane_.view().failure->message, "there is no device emulated:l4");
}

TEST_F(FocusLaneTest, AWatchThatComesLaterIsInWhatUndoShows) {
  const auto before = run(4, 1);
  auto watched = *before;
  watched.watch = WatchReport{};
  const auto after = share(watched);
  lane_.amend(before, after);
  EXPECT_EQ(lane_.view().shown, after);
  run(8, 2);
  undo();
  EXPECT_EQ(lane_.view().shown, after);
}

TEST_F(FocusLaneTest, RemembersWhatEachKernelWasAskedForLast) {
  ask(4);
  ask(8);
  ASSERT_EQ(lane_.last_asked()->count("tiled"), 1u);
  EXPECT_EQ(lane_.last_asked()->at("tiled"), draft(8));
  Resolution unknown = refused(16);
  unknown.kernel = nullptr;
  unknown.experiment.kernel = "no_such";
  lane_.ask(request(16), unknown);
  EXPECT_FALSE(lane_.last_asked()->contains("no_such")) << "there is no such kernel to come back to";
  lane_.ask(request(16), waiting(16));
  EXPECT_EQ(lane_.last_asked()->at("tiled"), draft(8)) << "nothing was sent";
}

TEST_F(FocusLaneTest, OnlyTheWantedExperimentsPartsCount) {
  ask(4);
  lane_.started(1);
  ask(8);
  lane_.started(2);
  lane_.take_part({1, {VariantInfo{}}});
  EXPECT_FALSE(lane_.own().variant);
  lane_.take_part({2, {VariantInfo{}}});
  EXPECT_TRUE(lane_.own().variant);
}

TEST_F(FocusLaneTest, SaysWhichConfigHasTheSameMachineCode) {
  run(4, 1, "abc");
  EXPECT_EQ(lane_.view().same_code_as, "");
  run(8, 2, "abc");
  EXPECT_EQ(lane_.view().same_code_as, "NUM_WARPS=4");
  run(16, 3, "def");
  EXPECT_EQ(lane_.view().same_code_as, "");
  undo();
  EXPECT_EQ(lane_.view().same_code_as, "NUM_WARPS=4") << "of what undo shows, too";
}

}  // namespace
}  // namespace attnscope::session
