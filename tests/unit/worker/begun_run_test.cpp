#include "worker/begun_run.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace attnscope::worker {
namespace {

// Runs until it is told to end, or is cancelled.
class HeldDevice final : public device::Device {
 public:
  const DeviceSpec& spec() const override { return spec_; }
  Result<std::shared_ptr<const device::Loaded>> load(const compile::Variant&) override {
    return std::shared_ptr<const device::Loaded>();
  }
  Result<device::LaunchOutcome> run(const device::LaunchRequest&, const device::LaunchEvents& events) override {
    ++begun;
    events.on_progress(3, 8);
    while (!ends)
      if (*events.cancel) {
        cancelled = true;
        return fail(Stage::cancelled, "cancelled", "");
      }
    if (fails) return fail(Stage::launch, "an illegal access", "");
    events.on_printed({{"said"}, 0});
    device::LaunchOutcome outcome;
    outcome.partial = true;
    return outcome;
  }
  std::atomic<int> begun{0};
  std::atomic<bool> ends{false}, fails{false}, cancelled{false};

 private:
  DeviceSpec spec_;
};

struct BegunRunTest : testing::Test {
  ~BegunRunTest() override { device->ends = true; }
  void begin() {
    run.begin(experiment, "code", device, {});
    wait_until([&] { return device->begun > 0; });
  }
  template <class Holds>
  static void wait_until(Holds holds) {
    while (!holds()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  JobPool pool{2};
  std::shared_ptr<HeldDevice> device = std::make_shared<HeldDevice>();
  Experiment experiment;
  BegunRun run{pool};
};

TEST_F(BegunRunTest, TellsWhatTheRunTold) {
  begin();
  device::LaunchEvents events;
  int64_t done = 0, total = 0;
  bool started = false;
  Printed printed;
  events.on_start = [&] { started = true; };
  events.on_progress = [&](int64_t ctas, int64_t of) {
    done = ctas, total = of;
    device->ends = true;
  };
  events.on_printed = [&](const Printed& text) { printed = text; };
  const auto taken = run.take(experiment, "code", events);
  ASSERT_TRUE(taken && *taken);
  EXPECT_TRUE((*taken)->partial);
  EXPECT_TRUE(started);
  EXPECT_EQ(done, 3);
  EXPECT_EQ(total, 8);
  EXPECT_EQ(printed.lines, std::vector<std::string>{"said"});
  const auto again = run.take(experiment, "code", {});
  EXPECT_TRUE(again && !*again) << "it is taken once";
}

TEST_F(BegunRunTest, AnotherExperimentOrCodeEndsIt) {
  begin();
  Experiment other = experiment;
  other.problem.seed = 7;
  run.keep_only(experiment);
  EXPECT_FALSE(device->cancelled);
  run.keep_only(other);
  wait_until([&] { return device->cancelled.load(); });
  device->begun = 0, device->cancelled = false;
  begin();
  const auto taken = run.take(experiment, "other code", {});
  EXPECT_TRUE(taken && !*taken);
  wait_until([&] { return device->cancelled.load(); });
}

TEST_F(BegunRunTest, AFaultIsLeftToARunOfItsOwn) {
  begin();
  device->fails = true;  // before it ends
  device->ends = true;
  const auto taken = run.take(experiment, "code", {});
  EXPECT_TRUE(taken && !*taken);
}

TEST_F(BegunRunTest, WhoWaitsIsFreeAtOnceWhenCancelled) {
  begin();
  std::atomic<bool> cancel{true};
  device::LaunchEvents events;
  events.cancel = &cancel;
  const auto taken = run.take(experiment, "code", events);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().stage, Stage::cancelled);
  wait_until([&] { return device->cancelled.load(); });
}

// The pool's only thread for this work is busy.
TEST_F(BegunRunTest, OneThatThePoolHasNotComeToIsNotWaitedFor) {
  std::promise<void> free;
  pool.leave([&, held = free.get_future().share()] { held.wait(); });
  run.begin(experiment, "code", device, {});
  const auto taken = run.take(experiment, "code", {});
  EXPECT_TRUE(taken && !*taken);
  std::promise<void> after;
  pool.leave([&] { after.set_value(); });
  free.set_value();
  after.get_future().wait();
  EXPECT_EQ(device->begun, 0);
}

}  // namespace
}  // namespace attnscope::worker
