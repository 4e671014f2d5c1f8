#include "cuda_api/nvml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine.h"

namespace attnscope::cuda_api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kGpu = "00000000:17:00.0";

class NvmlTest : public testing_support::Machine {
 protected:
  Result<std::shared_ptr<const Nvml>> open(const std::string& reasons = "EventReasons") {
    set("ATTNSCOPE_LIBNVML", fake("nvml_" + reasons).string());
    return Nvml::open();
  }
};

TEST_F(NvmlTest, EachReasonHasItsWordAndIdleHasNone) {
  EXPECT_THAT(reason_words(kReasonPowerCap | kReasonIdle), ElementsAre("power cap"));
  EXPECT_THAT(reason_words(0x1ff),
              ElementsAre("application clocks", "power cap", "hardware slowdown", "synchronised boost",
                          "thermal slowdown", "hardware thermal slowdown", "hardware power brake", "display clocks"));
  for (int bit = 1; bit < 9; ++bit) EXPECT_EQ(reason_words(uint64_t{1} << bit).size(), 1u) << bit;
  EXPECT_TRUE(reason_words(kReasonIdle).empty());
  EXPECT_TRUE(reason_words(uint64_t{1} << 9).empty());
}

TEST_F(NvmlTest, AMissingLibraryIsAFailureThatNamesIt) {
  set("ATTNSCOPE_LIBNVML", "/nowhere/libnvidia-ml.so.1");
  const auto nvml = Nvml::open();
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error().stage, Stage::device);
  EXPECT_THAT(nvml.error().message, HasSubstr("/nowhere/libnvidia-ml.so.1"));
}

TEST_F(NvmlTest, ALibraryThatLacksACallIsRefusedByItsName) {
  EXPECT_THAT(open("Neither").error().message, HasSubstr("lacks nvmlDeviceGetCurrentClocksThrottleReasons"));
  set("ATTNSCOPE_LIBNVML", fake("cublas").string());
  EXPECT_THAT(Nvml::open().error().message, HasSubstr("lacks nvmlInit_v2"));
}

TEST_F(NvmlTest, ARefusedStartSaysItsCode) {
  set("ATTNSCOPE_FAKE_FAILS", "nvmlInit_v2");
  const auto nvml = open();
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error().stage, Stage::device);
  EXPECT_EQ(nvml.error().message, "nvmlInit failed with NVML error 9.");
  EXPECT_EQ(nvml.error().hint, "Clocks and power stay unknown.");
}

TEST_F(NvmlTest, SaysTheDriversVersionOrNothing) {
  const auto nvml = open();
  ASSERT_TRUE(nvml) << nvml.error().message;
  EXPECT_EQ((*nvml)->driver_version(), "580.95.05");
  set("ATTNSCOPE_FAKE_FAILS", "nvmlSystemGetDriverVersion");
  EXPECT_EQ((*nvml)->driver_version(), "");
}

TEST_F(NvmlTest, AnUnknownGpuIsAFailureThatNamesIt) {
  const auto nvml = open();
  ASSERT_TRUE(nvml);
  const auto found = (*nvml)->find("00000000:18:00.0");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().stage, Stage::device);
  EXPECT_EQ(found.error().message, "NVML does not know the GPU 00000000:18:00.0 (NVML error 6).");
  EXPECT_EQ(found.error().hint, "Its clock and power stay unknown.");
}

TEST_F(NvmlTest, TheStateIsInMegahertzWattsAndCelsius) {
  for (const char* reasons : {"EventReasons", "ThrottleReasons"}) {
    const auto nvml = open(reasons);
    ASSERT_TRUE(nvml) << nvml.error().message;
    const auto gpu = (*nvml)->find(kGpu);
    ASSERT_TRUE(gpu) << gpu.error().message;
    const GpuState all = (*nvml)->state(*gpu, true);
    EXPECT_EQ(all.clock_mhz, 1410);
    EXPECT_EQ(all.power_w, 234.5);
    EXPECT_EQ(all.power_limit_w, 700);
    EXPECT_EQ(all.temperature_c, 61);
    EXPECT_EQ(all.reasons, kReasonPowerCap | kReasonThermal);
    const GpuState quick = (*nvml)->state(*gpu, false);
    EXPECT_EQ(quick.clock_mhz, 1410);
    EXPECT_EQ(quick.power_w, 0);
    EXPECT_EQ(quick.power_limit_w, 0);
    EXPECT_EQ(quick.temperature_c, 0);
    EXPECT_EQ(quick.reasons, kReasonPowerCap | kReasonThermal);
  }
}

TEST_F(NvmlTest, AFigureThatTheGpuDoesNotReportIsZeroAndTheOthersStay) {
  const auto nvml = open();
  ASSERT_TRUE(nvml);
  const auto gpu = (*nvml)->find(kGpu);
  ASSERT_TRUE(gpu);
  const auto figures = [&](const char* failing) {
    set("ATTNSCOPE_FAKE_FAILS", failing);
    const GpuState state = (*nvml)->state(*gpu, true);
    return std::vector<double>{state.clock_mhz, static_cast<double>(state.reasons), state.power_w, state.power_limit_w,
                               state.temperature_c};
  };
  EXPECT_THAT(figures(""), ElementsAre(1410, 0x24, 234.5, 700, 61));
  EXPECT_THAT(figures("nvmlDeviceGetClockInfo"), ElementsAre(0, 0x24, 234.5, 700, 61));
  EXPECT_THAT(figures("reasons"), ElementsAre(1410, 0, 234.5, 700, 61));
  EXPECT_THAT(figures("nvmlDeviceGetPowerUsage"), ElementsAre(1410, 0x24, 0, 700, 61));
  EXPECT_THAT(figures("nvmlDeviceGetEnforcedPowerLimit"), ElementsAre(1410, 0x24, 234.5, 0, 61));
  EXPECT_THAT(figures("nvmlDeviceGetTemperature"), ElementsAre(1410, 0x24, 234.5, 700, 0));
}

}  // namespace
}  // namespace attnscope::cuda_api
