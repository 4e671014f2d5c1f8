#include "measure/sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "measure/statistics.h"

namespace attnscope::measure {
namespace {

// A fake GPU: only its samples move its clock, and the test sets its spread and conditions.
class FakeGpu final : public Source {
 public:
  Result<void> begin_round() override {
    ++rounds;
    now_ms += 5;
    if (rounds > fail_after) return fail(Stage::launch, "tiled on cuda:0: CUDA_ERROR_ILLEGAL_ADDRESS");
    return {};
  }
  Result<std::vector<double>> take() override {
    ++takes;
    now_ms += us * 1e-3 * 100;
    return std::vector<double>{us * (1 + spread * std::sin(static_cast<double>(takes) * 1.7) + wander * (rounds % 2))};
  }
  Conditions conditions() override { return on_take ? on_take(takes) : Conditions{1980, 300, 700, 50, false, {}}; }
  std::optional<double> empty_us() const override { return 1.5; }

  Result<Timing> sampled(const Policy& policy = {}) {
    Events events;
    events.now_ms = [this] { return now_ms; };
    events.cancel = &cancel;
    events.on_progress = [this](int64_t samples) { progress = samples; };
    return sample(*this, policy, events);
  }

  double us = 20, spread = 1e-4, wander = 0, now_ms = 1000;
  int rounds = 0, takes = 0, fail_after = 1 << 30;
  std::function<Conditions(int take)> on_take;
  std::atomic<bool> cancel{false};
  int64_t progress = 0;
};

TEST(Sampling, StopsOnceTheIntervalIsNarrow) {
  FakeGpu gpu;
  const auto timing = gpu.sampled();
  ASSERT_TRUE(timing) << timing.error().message;
  EXPECT_EQ(timing->kind, FigureKind::measured);
  EXPECT_EQ(timing->sampling->stopped, Stopped::stable);
  EXPECT_EQ(gpu.rounds, kFewestRounds);
  EXPECT_EQ(timing->samples, gpu.takes);
  EXPECT_EQ(gpu.progress, gpu.takes);
  EXPECT_NEAR(timing->p50, 20, 0.01);
  EXPECT_LE(timing->p10, timing->p50);
  EXPECT_LE(timing->interval_low, timing->p50);
  EXPECT_GE(timing->interval_high, timing->p50);
  EXPECT_EQ(timing->clock_mhz, 1980);
  EXPECT_EQ(timing->sampling->power_w, 300);
  EXPECT_EQ(timing->sampling->empty_us, 1.5);
  EXPECT_EQ(timing->sampling->rounds.size(), static_cast<size_t>(kFewestRounds));
}

TEST(Sampling, ARoundEndsOnceItHasBothItsSamplesAndItsTime) {
  const struct {
    double take_ms;
    double takes_of_round;
  } cases[] = {{1, std::max<double>(kFewestOfRound, kRoundMs)}, {5, std::max<double>(kFewestOfRound, kRoundMs / 5)}};
  for (const auto& [take_ms, takes_of_round] : cases) {
    FakeGpu gpu;
    gpu.us = 10 * take_ms;
    ASSERT_TRUE(gpu.sampled());
    EXPECT_EQ(gpu.takes, gpu.rounds * takes_of_round) << take_ms;
  }
}

TEST(Sampling, TheQuantilesAreThoseOfItsSamples) {
  FakeGpu gpu;
  gpu.spread = 1e-3;
  const auto timing = gpu.sampled();
  ASSERT_TRUE(timing);
  const std::vector<double> all = pooled(timing->sampling->rounds);
  ASSERT_EQ(static_cast<int64_t>(all.size()), timing->samples) << "all of them are kept";
  EXPECT_NEAR(timing->p10, quantile(all, 0.1), 1e-4);
  EXPECT_NEAR(timing->p50, quantile(all, 0.5), 1e-4);
  EXPECT_NEAR(timing->p90, quantile(all, 0.9), 1e-4);
  EXPECT_LT(timing->p10, timing->p50);
  EXPECT_LT(timing->p50, timing->p90);
}

TEST(Sampling, RoundsThatDifferKeepItGoingUntilTheTimeIsUp) {
  FakeGpu gpu;
  gpu.wander = 0.05;  // every other placement is 5 % slower: the median is not known to 0.5 %
  const auto timing = gpu.sampled({CacheState::hot, 1500});
  ASSERT_TRUE(timing);
  EXPECT_EQ(timing->sampling->stopped, Stopped::time_up);
  EXPECT_GE(gpu.now_ms - 1000, 1500);
  EXPECT_LT(gpu.now_ms - 1000, 1500 + 50);
  EXPECT_GT(timing->interval_high - timing->interval_low, 0.5);
}

TEST(Sampling, WhatIsFarSlowerThanItHadToBeIsHopelessAfterTwoRounds) {
  FakeGpu gpu;  // 20 us
  const auto timing = gpu.sampled({CacheState::hot, 2000, 15});
  ASSERT_TRUE(timing);
  EXPECT_EQ(timing->sampling->stopped, Stopped::hopeless);
  EXPECT_EQ(gpu.rounds, kHopelessRounds);
  EXPECT_NEAR(timing->p50, 20, 0.1) << "what was measured is said";
  FakeGpu better;
  EXPECT_EQ(better.sampled({CacheState::hot, 2000, 25})->sampling->stopped, Stopped::stable);
  FakeGpu hot;
  hot.on_take = [](int take) { return Conditions{1980, 300, 700, 80, take < 200, {}}; };  // slowed at first
  const auto cooled = hot.sampled({CacheState::hot, 2000, 15});
  ASSERT_TRUE(cooled);
  EXPECT_EQ(cooled->sampling->stopped, Stopped::hopeless);
  EXPECT_GT(hot.takes, 200) << "samples that were left out prove nothing";
}

TEST(Sampling, ASlowKernelIsSampledAtLeastOnce) {
  FakeGpu gpu;
  gpu.us = 1e6;  // its one sample takes 100 s on the fake clock
  const auto timing = gpu.sampled({CacheState::cold, 2000});
  ASSERT_TRUE(timing);
  EXPECT_EQ(timing->samples, 1);
  EXPECT_EQ(timing->cache, CacheState::cold);
  EXPECT_EQ(timing->sampling->stopped, Stopped::time_up);
  EXPECT_NEAR(timing->interval_high - timing->interval_low, 2 * kBetweenRuns * timing->p50, 1e-6 * timing->p50);
}

TEST(Sampling, SlowdownsAndStrayClocksAreLeftOutAndCounted) {
  FakeGpu gpu;
  gpu.on_take = [](int take) {
    Conditions now{1980, 300, 700, 80, false, {}};
    if (take % 20 == 3) now.slowed = true, now.reasons = {"thermal slowdown"};
    if (take % 20 == 7) now.clock_mhz = 1900;  // 4 % off
    if (take % 20 == 9) now.clock_mhz = 1940;  // 2 % off: kept
    return now;
  };
  const auto timing = gpu.sampled();
  ASSERT_TRUE(timing);
  int64_t expected = 0;
  for (int take = 1; take <= gpu.takes; ++take) expected += take % 20 == 3 || take % 20 == 7;
  EXPECT_EQ(timing->sampling->dropped, expected);
  EXPECT_EQ(timing->samples, gpu.takes - expected);
  EXPECT_THAT(timing->sampling->reasons, testing::ElementsAre("thermal slowdown"));
}

TEST(Sampling, AClockThatIsOffByJustTheToleranceIsKept) {
  FakeGpu gpu;
  gpu.on_take = [](int take) {
    return Conditions{take % 20 == 7 ? 1030.0 : take % 20 == 9 ? 1030.1 : 1000.0, 300, 700, 50, false, {}};
  };
  const auto timing = gpu.sampled();
  ASSERT_TRUE(timing);
  int64_t expected = 0;
  for (int take = 1; take <= gpu.takes; ++take) expected += take % 20 == 9;
  EXPECT_EQ(timing->sampling->dropped, expected);
}

TEST(Sampling, APowerCapIsShownAndNeverDropped) {
  FakeGpu gpu;
  gpu.on_take = [](int) { return Conditions{1500, 72, 72, 70, false, {"power cap"}}; };
  const auto timing = gpu.sampled();
  ASSERT_TRUE(timing);
  EXPECT_EQ(timing->sampling->dropped, 0);
  EXPECT_EQ(timing->clock_mhz, 1500);
  EXPECT_THAT(timing->sampling->reasons, testing::ElementsAre("power cap"));
}

TEST(Sampling, AGpuThatIsHotThroughoutIsAFailureThatSaysSo) {
  FakeGpu gpu;
  gpu.on_take = [](int) { return Conditions{1000, 300, 700, 95, true, {"thermal slowdown"}}; };
  const auto timing = gpu.sampled({CacheState::hot, 300});
  ASSERT_FALSE(timing);
  EXPECT_EQ(timing.error().stage, Stage::device);
  EXPECT_THAT(timing.error().message, testing::HasSubstr("heat"));
}

TEST(Sampling, WithoutAMeterNothingIsDropped) {
  FakeGpu gpu;
  gpu.on_take = [](int) { return Conditions{}; };
  const auto timing = gpu.sampled();
  ASSERT_TRUE(timing);
  EXPECT_EQ(timing->clock_mhz, 0);
  EXPECT_EQ(timing->samples, gpu.takes);
}

TEST(Sampling, AnObservationSaysTheHighestPowerAndTemperatureAndEachReasonOnce) {
  FakeGpu gpu;
  gpu.on_take = [](int take) {
    Conditions now{1980, 100, 300, 40, false, {"power cap"}};
    if (take == 5) now.power_w = 250, now.power_limit_w = 350;
    if (take == 9) now.temperature_c = 77, now.reasons = {"other", "power cap"};
    return now;
  };
  const auto timing = gpu.sampled();
  ASSERT_TRUE(timing);
  EXPECT_EQ(timing->sampling->power_w, 250);
  EXPECT_EQ(timing->sampling->power_limit_w, 350);
  EXPECT_EQ(timing->sampling->temperature_c, 77);
  EXPECT_THAT(timing->sampling->reasons, testing::ElementsAre("power cap", "other"));
}

// The largest and the smallest of two rounds decide, and a time to beat that they just reach is no reason.
TEST(Sampling, OneSampleThatIsFastEnoughIsHope) {
  FakeGpu gpu;
  gpu.spread = 0;
  EXPECT_EQ(gpu.sampled({CacheState::hot, 2000, 20})->sampling->stopped, Stopped::stable) << "20 is not slower than 20";
  FakeGpu slower;
  slower.spread = 0;
  EXPECT_EQ(slower.sampled({CacheState::hot, 2000, 19.99})->sampling->stopped, Stopped::hopeless);
  FakeGpu once;
  once.spread = 0;
  once.wander = -0.4;  // every other round takes 12 us
  const auto timing = once.sampled({CacheState::hot, 400, 15});
  EXPECT_NE(timing->sampling->stopped, Stopped::hopeless);
}

TEST(Sampling, CancellingAndFailingEndIt) {
  FakeGpu gpu;
  gpu.cancel = true;
  EXPECT_EQ(gpu.sampled().error().stage, Stage::cancelled);
  FakeGpu broken;
  broken.fail_after = 3;
  EXPECT_EQ(broken.sampled().error().stage, Stage::launch);
}

TEST(Sampling, AnObservationKeepsAThousandSamples) {
  FakeGpu gpu;
  gpu.us = 1;
  const auto timing = gpu.sampled();
  ASSERT_TRUE(timing);
  ASSERT_GT(timing->samples, 1000);
  size_t kept = 0;
  for (const auto& round : timing->sampling->rounds) kept += round.size();
  EXPECT_LE(kept, 1000 + timing->sampling->rounds.size());
  EXPECT_GT(kept, 400u);
}

}  // namespace
}  // namespace attnscope::measure
