#include "device/cuda/cuda_timer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "cuda_device_test.h"

namespace attnscope::device {
namespace {

using testing::CudaDeviceTest;
using ::testing::HasSubstr;

TEST_F(CudaDeviceTest, HotIsAGraphOfAtLeastAMillisecondOfKernels) {
  const auto one = device();
  int told = 0;
  auto timer = one->timer(request(*one), CacheState::hot, [&] { ++told; });
  ASSERT_TRUE(timer && *timer);
  ASSERT_TRUE((*timer)->begin_round());
  EXPECT_GT(told, 0) << "the supervisor is told about every launch that ended";
  const int before = gpu_.launches;
  const auto us = (*timer)->take();
  ASSERT_TRUE(us) << us.error().message;
  ASSERT_EQ(us->size(), 1u);
  EXPECT_NEAR(us->front(), 30, 1e-3);
  EXPECT_GE(gpu_.launches - before, 34);
  EXPECT_LE(gpu_.launches - before, 40);
  EXPECT_FALSE((*timer)->empty_us());
}

TEST_F(CudaDeviceTest, AHotGraphHasAtLeastOneKernelAndAtMostFourThousand) {
  const auto one = device();
  const auto launches = [&](double us) {
    gpu_.kernel_us = us;
    auto timer = one->timer(request(*one), CacheState::hot, {});
    if (!timer || !(*timer)->begin_round()) return 0;
    const int before = gpu_.launches;
    const auto taken = (*timer)->take();
    EXPECT_TRUE(taken && taken->size() == 1);
    EXPECT_NEAR(taken ? taken->front() : 0, us, 1e-3 * us);
    return gpu_.launches - before;
  };
  EXPECT_EQ(launches(1e6), 1);
  EXPECT_EQ(launches(0.01), 4000);
}

TEST_F(CudaDeviceTest, ACooperativeKernelIsTimedInAGraphToo) {
  const auto one = device();
  LaunchRequest wanted = request(*one);
  wanted.shape.cooperative = true;
  auto timer = one->timer(wanted, CacheState::hot, {});
  ASSERT_TRUE(timer && *timer) << timer.error().message;
  const auto begun = (*timer)->begin_round();
  ASSERT_TRUE(begun) << begun.error().message;
  const auto us = (*timer)->take();
  ASSERT_TRUE(us) << us.error().message;
  EXPECT_NEAR(us->front(), 30, 1e-3);
  EXPECT_TRUE(gpu_.shape.cooperative);
}

TEST_F(CudaDeviceTest, RoundsPlaceTheBuffersElsewhereAndLeaveNothingBehind) {
  auto one = device();
  {
    auto timer = one->timer(request(*one), CacheState::hot, {});
    ASSERT_TRUE(timer && *timer);
    std::vector<uint64_t> places;
    for (int round = 0; round < 4; ++round) {
      ASSERT_TRUE((*timer)->begin_round());
      ASSERT_TRUE((*timer)->take());
      places.push_back(gpu_.outputs.back());
    }
    for (size_t i = 1; i < places.size(); ++i) EXPECT_NE(places[i], places[i - 1]);
  }
  EXPECT_EQ(gpu_.graphs, 0);
  one.reset();
  EXPECT_EQ(gpu_.modules, 0) << "no kernel is loaded any more";
  EXPECT_EQ(gpu_.allocated, 0u);
}

TEST_F(CudaDeviceTest, ColdFlushesBeforeEachAndTimesAnEmptyKernelBeside) {
  const auto one = device();
  auto timer = one->timer(request(*one), CacheState::cold, {});
  ASSERT_TRUE(timer) << timer.error().message;
  ASSERT_TRUE((*timer)->begin_round());
  const auto us = (*timer)->take();
  ASSERT_TRUE(us);
  EXPECT_GT(us->size(), 10u);
  for (const double one_us : *us) EXPECT_NEAR(one_us, 30, 1e-3) << "the flush is not in it";
  ASSERT_TRUE((*timer)->empty_us());
  EXPECT_NEAR(*(*timer)->empty_us(), 2, 1e-3);
  EXPECT_EQ(gpu_.flushed, 2u * 50331648) << "twice the L2";
}

TEST_F(CudaDeviceTest, ColdRepetitionsFitTheirGraph) {
  const auto one = device();
  const auto repetitions = [&](double us) {
    gpu_.kernel_us = us;
    auto timer = one->timer(request(*one), CacheState::cold, {});
    if (!timer || !(*timer)->begin_round()) return size_t{0};
    const auto taken = (*timer)->take();
    return taken ? taken->size() : 0;
  };
  EXPECT_EQ(repetitions(1), 32u);  // the most
  EXPECT_EQ(repetitions(90), 21u);
  EXPECT_EQ(repetitions(5000), 1u);
}

TEST_F(CudaDeviceTest, AKernelThatFaultsWhileItIsTimedIsAFailure) {
  const auto one = device();
  auto timer = one->timer(request(*one), CacheState::hot, {});
  ASSERT_TRUE(timer);
  gpu_.kernel = [](std::byte*) { return 700; };
  const auto ready = (*timer)->begin_round();
  ASSERT_FALSE(ready);
  EXPECT_THAT(ready.error().message, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_TRUE(one->lost());
}

TEST_F(CudaDeviceTest, TheMeterReadsThisGpuAndWithoutNvmlNothing) {
  const auto conditions = [&](std::shared_ptr<const cuda_api::Nvml> nvml) {
    auto devices = make_cuda_devices({gpu_.calls(), std::move(nvml), nullptr, {}}, {});
    auto& one = *devices.value().front();
    return (*one.timer(request(one), CacheState::hot, {}))->conditions();
  };
  setenv("ATTNSCOPE_LIBNVML", ATTNSCOPE_FAKES "/fake_nvml_EventReasons.so", 1);
  const auto nvml = cuda_api::Nvml::open();
  unsetenv("ATTNSCOPE_LIBNVML");
  ASSERT_TRUE(nvml) << nvml.error().message;
  const measure::Conditions read = conditions(*nvml);
  EXPECT_EQ(read.clock_mhz, 1410);
  EXPECT_EQ(read.power_w, 234.5);
  EXPECT_EQ(read.power_limit_w, 700);
  EXPECT_EQ(read.temperature_c, 61);
  EXPECT_TRUE(read.slowed) << "by heat";
  EXPECT_THAT(read.reasons, ::testing::ElementsAre("power cap", "thermal slowdown"));
  const auto reading = [&](std::shared_ptr<const cuda_api::Nvml> with) {
    return make_cuda_devices({gpu_.calls(), std::move(with), nullptr, {}}, {}).value().front()->reading();
  };
  EXPECT_EQ(reading(*nvml), (GpuReading{"cuda:0", 1410, 234.5, 700, 61, {"power cap", "thermal slowdown"}}));
  EXPECT_FALSE(reading(nullptr));
  setenv("ATTNSCOPE_FAKE_FAILS", "reasons", 1);
  EXPECT_FALSE(conditions(*nvml).slowed);
  EXPECT_TRUE(conditions(*nvml).reasons.empty());
  unsetenv("ATTNSCOPE_FAKE_FAILS");
  gpu_.refused = "device_pci_bus_id";
  EXPECT_EQ(conditions(*nvml).clock_mhz, 0) << "which GPU it is remains unknown";
  gpu_.refused.clear();
  EXPECT_EQ(conditions(nullptr).clock_mhz, 0);
}

}  // namespace
}  // namespace attnscope::device
