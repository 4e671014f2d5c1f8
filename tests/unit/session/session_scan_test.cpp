// Scans over a worker that replays.
#include "unit/session/session_fixture.h"

namespace attnscope::session {
namespace {

class SessionScan : public SessionTest {
 protected:
  SessionScan() { options_.first_experiment = false; }

  void scan(int64_t warps, const std::string& knob, std::map<std::string, int64_t> knobs = {}) {
    session_->scan({.id = ++scan_, .draft = tiled(warps, std::move(knobs)), .knobs = {knob}});
  }
  Shared<Scan> wait_for_scan() {
    const Seen seen =
        wait_for([&](const Snapshot& s) { return find(s) != nullptr && find(s)->over(); }, "the end of the scan");
    return find(*seen);
  }
  Shared<Scan> find(const Snapshot& s) const {
    const auto found = std::ranges::find(s.scans, scan_, [](const auto& scan) { return scan->id; });
    return found == s.scans.end() ? nullptr : *found;
  }
  static size_t ended(const Scan& scan) {
    return static_cast<size_t>(std::ranges::count_if(scan.points, &ScanPoint::ended));
  }

  uint64_t scan_ = 40;
};

TEST_F(SessionScan, RunsEveryValueAndHoldsTheOthers) {
  start();
  scan(4, "NUM_WARPS");
  const auto seen = wait_for_scan();
  ASSERT_EQ(seen->points.size(), 5u);
  EXPECT_EQ(seen->held.config.knobs.at("BLOCK_M"), 32);
  for (const ScanPoint& point : seen->points) {
    EXPECT_EQ(point.current, point.value.value == 4);
    ASSERT_TRUE(point.observation) << point.value.value;
    const Observation& run = *point.observation;
    EXPECT_EQ(run.experiment.config.knobs.at("NUM_WARPS"), point.value.value);
    EXPECT_EQ(run.experiment.config.knobs.at("BLOCK_M"), 32);
    EXPECT_EQ(run.hash, hash_of(run.experiment));
    ASSERT_TRUE(run.timing) << point.value.value;
    EXPECT_EQ(run.timing->p50, recorded("m32_w" + std::to_string(point.value.value)).timing->p50);
  }
  EXPECT_EQ(runs(), 5u);
  EXPECT_EQ(session_->snapshot()->history.size, 0u) << "only what a person looks at is in the history";
}

TEST_F(SessionScan, ProgressWithinARunIsPublishedOnceASecond) {
  worker({"--ctas", "100"});
  start();
  const uint64_t before = session_->snapshot()->version;
  scan(4, "BLOCK_M");
  wait_for_scan();
  ASSERT_EQ(runs(), 3u);
  // Each run sends five parts and two ends, and would publish some 19 times more for its progress.
  EXPECT_LE(session_->snapshot()->version - before, 40u);
}

TEST_F(SessionScan, WhatCannotRunIsNotSent) {
  start();
  scan(4, "BLOCK_M");
  const auto seen = wait_for_scan();
  const ScanPoint& last = seen->points.back();
  EXPECT_EQ(last.value.value, 64);
  ASSERT_TRUE(last.refused);
  EXPECT_THAT(last.refused->message, testing::HasSubstr("57,376"));
  EXPECT_EQ(last.refused->hint, "Set SHARED to dynamic.");
  EXPECT_FALSE(last.observation);
  EXPECT_EQ(runs(), 3u);
}

TEST_F(SessionScan, EqualMachineCodeIsTimedOnce) {
  start();
  scan(8, "VEC_WIDTH");
  const auto seen = wait_for_scan();
  ASSERT_EQ(seen->points.size(), 4u);
  const ScanPoint &four = seen->points[2], &eight = seen->points[3];
  EXPECT_EQ(four.value.value, 4);
  EXPECT_FALSE(four.same_as);
  ASSERT_EQ(eight.same_as, 2u);
  EXPECT_FALSE(eight.observation->timing);
  EXPECT_FALSE(eight.observation->failure);
  EXPECT_EQ(seen->timed(3), four.observation.get());
}

// A value without a recording fails; the values after it run.
TEST_F(SessionScan, AValueThatFailsDoesNotEndTheScan) {
  start();
  scan(8, "VEC_WIDTH");
  const auto seen = wait_for_scan();
  ASSERT_TRUE(seen->points[0].observation->failure);
  EXPECT_EQ(seen->points[0].observation->failure->stage, Stage::device);
  EXPECT_TRUE(seen->points[2].observation->timing);
}

TEST_F(SessionScan, AKnownRunIsNotRepeated) {
  start();
  session_->queue(tiled(8)).wait();
  const auto known = share(session_->queue(tiled(8)).get());
  ScanRequest request{.id = ++scan_, .draft = tiled(4), .knobs = {"NUM_WARPS"}};
  request.known = {known};
  session_->scan(std::move(request));
  EXPECT_EQ(wait_for_scan()->points[4].observation, known);
  EXPECT_EQ(runs(), 2u + 4u);
}

TEST_F(SessionScan, AConfigOfItsOwnRunsAndNothingElse) {
  start();
  ScanRequest request{.id = ++scan_, .draft = tiled(4), .knobs = {}};
  request.set = {{"NUM_WARPS", 8}};
  session_->scan(std::move(request));
  const auto seen = wait_for_scan();
  ASSERT_EQ(seen->points.size(), 1u);
  ASSERT_TRUE(seen->points[0].observation);
  EXPECT_EQ(seen->points[0].observation->timing->p50, recorded("m32_w8").timing->p50);
  EXPECT_EQ(runs(), 1u);
  EXPECT_EQ(session_->snapshot()->history.size, 0u);
}

TEST_F(SessionScan, AnUnknownKnobIsRefusedWithThoseThatAre) {
  start();
  scan(4, "NUM_WARP");
  const auto seen = wait_for_scan();
  ASSERT_TRUE(seen->failure);
  EXPECT_EQ(seen->failure->stage, Stage::input);
  EXPECT_THAT(seen->failure->hint, testing::HasSubstr("Did you mean NUM_WARPS?"));
  scan(4, "NUM_WARPS", {{"BLOCK_M", 33}});
  EXPECT_THAT(wait_for_scan()->failure->message, testing::HasSubstr("BLOCK_M"));
}

TEST_F(SessionScan, GoesOnWhereItsOwnKnobIsTurnedAndEndsWhereAnotherIs) {
  worker({"--gate", gate()});
  for (const char* part : {"variant", "occupancy", "counters", "verdict", "timing"}) open_gate(part);
  start();
  focus(4);
  wait_for([](const Snapshot& s) { return part(s, Part::timing) == PartState::fresh; }, "the first run's time");
  open_gate("done");
  wait_for_run(4);
  close_gates();
  scan(4, "NUM_WARPS");
  wait_for([&](const Snapshot& s) { return find(s) != nullptr; }, "the scan");
  focus(8);  // a value of the scanned knob: it runs first, then the scan starts again
  open_gates();
  wait_for_run(8);
  EXPECT_EQ(ended(*wait_for_scan()), 5u);

  close_gates();
  scan(4, "BLOCK_M");
  wait_for([&](const Snapshot& s) { return find(s) != nullptr; }, "the next scan");
  focus(2);
  wait_for([&](const Snapshot& s) { return find(s) == nullptr; }, "its end");
  open_gates();
  const Seen seen = wait_for_run(2);
  ASSERT_EQ(seen->scans.size(), 1u) << "what was over stays";
  EXPECT_EQ(seen->scans[0]->points[0].knob, "NUM_WARPS");
}

TEST_F(SessionScan, ACrashedWorkersValueRunsAgain) {
  worker({"--crash", "NUM_WARPS=2", "--crash-once", dir_ / "crashed"});
  start();
  scan(4, "NUM_WARPS");
  const auto seen = wait_for_scan();
  for (const ScanPoint& point : seen->points) EXPECT_TRUE(point.observation->timing) << point.value.value;
}

// Two workers beside the session's own share a scan.
class SessionSharedScan : public SessionScan {
 protected:
  void workers(std::vector<std::string> a, std::vector<std::string> b) {
    options_.workers.push_back(fake("a", std::move(a)));
    options_.workers.push_back(fake("b", std::move(b)));
  }
  Shared<Scan> share(const std::vector<std::string>& knobs) {
    start();
    wait_for([](const Snapshot& s) { return !s.workers.empty() && s.workers.front().state == WorkerState::ready; },
             "the first worker");
    const auto snapshot = session_->snapshot();
    ScanRequest request{.id = ++scan_, .draft = tiled(4), .knobs = knobs};
    request.sharing = Sharing{
        {"a/emulated:l4", "b/emulated:l4"}, *find_device(*snapshot, "emulated:l4"), snapshot->workers.front().versions};
    session_->scan(std::move(request));
    return wait_for_scan();
  }
};

TEST_F(SessionSharedScan, EveryValueRunsOnceAsOnOneDevice) {
  workers({}, {});
  const auto seen = share({"NUM_WARPS"});
  ASSERT_EQ(seen->points.size(), 5u);
  for (const ScanPoint& point : seen->points) {
    const std::string warps = std::to_string(point.value.value);
    EXPECT_EQ(point.observation->timing->p50, recorded("m32_w" + warps).timing->p50);
    EXPECT_EQ(point.observation->device, "emulated:l4");
  }
  EXPECT_EQ(runs(), 5u);
}

TEST_F(SessionSharedScan, WhatAWorkerDiedWithRunsOnTheOther) {
  workers({"--crash", "NUM_WARPS=1", "--crash-once", dir_ / "crashed"},
          {"--crash", "NUM_WARPS=1", "--crash-once", dir_ / "crashed"});
  for (const ScanPoint& point : share({"NUM_WARPS"})->points)
    EXPECT_TRUE(point.observation->timing) << point.value.value;
  EXPECT_EQ(runs(), 6u) << "only that one ran again";
}

TEST_F(SessionSharedScan, AConfigThatEndsTwoWorkersFailsAndTheOthersRun) {
  workers({"--crash", "NUM_WARPS=1"}, {"--crash", "NUM_WARPS=1"});
  const auto seen = share({"NUM_WARPS"});
  ASSERT_TRUE(seen->points[0].observation->failure);
  EXPECT_EQ(seen->points[0].observation->failure->stage, Stage::crash);
  const std::string& why = seen->points[0].observation->failure->message;
  EXPECT_THAT(why, testing::HasSubstr("a: it was ended by signal 9"));
  EXPECT_THAT(why, testing::HasSubstr("b: it was ended by signal 9"));
  for (size_t at = 1; at < 5; ++at) EXPECT_TRUE(seen->points[at].observation->timing) << at;
  EXPECT_EQ(runs(), 6u);
}

TEST_F(SessionSharedScan, AWorkerThatNeverStartsTakesNoPartAndIfNoneDoesTheScanFails) {
  workers({"--exit-at-start"}, {});
  for (const ScanPoint& point : share({"NUM_WARPS"})->points)
    EXPECT_TRUE(point.observation->timing) << point.value.value;
  stop();
  options_.workers.resize(1);
  workers({"--exit-at-start"}, {"--version", "9.8.7"});
  const auto seen = share({"NUM_WARPS"});
  ASSERT_TRUE(seen->failure);
  EXPECT_EQ(seen->failure->stage, Stage::device);
  EXPECT_THAT(seen->failure->message, testing::HasSubstr("a/emulated:l4: it ended with status 3"));
  EXPECT_THAT(seen->failure->message, testing::HasSubstr("b/emulated:l4: it is attnscope 9.8.7"));
}

}  // namespace
}  // namespace attnscope::session
