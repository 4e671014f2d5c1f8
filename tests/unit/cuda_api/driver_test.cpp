#include "cuda_api/driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine.h"

namespace attnscope::cuda_api {
namespace {

using testing::HasSubstr;
using DriverTest = testing_support::Machine;

TEST_F(DriverTest, TellsItsGpus) {
  driver(12080);
  const auto opened = Driver::open();
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->version(), 12080);
  EXPECT_EQ(opened->version_text(), "12.8");
  const auto gpus = opened->gpus();
  ASSERT_TRUE(gpus) << gpus.error().message;
  ASSERT_EQ(gpus->size(), 2u);
  for (int ordinal : {0, 1}) {
    const GpuInfo& gpu = gpus->at(static_cast<size_t>(ordinal));
    EXPECT_EQ(gpu.ordinal, ordinal);
    EXPECT_EQ(gpu.name, "Fake GPU " + std::to_string(100 + ordinal));
    EXPECT_EQ(gpu.arch, 89);
    EXPECT_EQ(gpu.memory_bytes, uint64_t{24} << 30);
  }
}

TEST_F(DriverTest, TheVersionIsMajorAndMinor) {
  driver(13000);
  EXPECT_EQ(Driver::open()->version_text(), "13.0");
  driver(14010);
  EXPECT_EQ(Driver::open()->version_text(), "14.1");
}

TEST_F(DriverTest, ACallThatFailsIsNamedWithItsCode) {
  driver(12080);
  const auto opened = Driver::open();
  ASSERT_TRUE(opened);
  const std::pair<const char*, std::string> kCalls[] = {{"cuInit", "cuInit"},
                                                        {"cuDeviceGetCount", "cuDeviceGetCount"},
                                                        {"cuDeviceGet", "cuDeviceGet"},
                                                        {"cuDeviceGetName", "cuDeviceGetName"},
                                                        {"major", "cuDeviceGetAttribute"},
                                                        {"minor", "cuDeviceGetAttribute"},
                                                        {"cuDeviceTotalMem", "cuDeviceTotalMem"}};
  for (const auto& [failing, name] : kCalls) {
    set("ATTNSCOPE_FAKE_FAILS", failing);
    const auto gpus = opened->gpus();
    ASSERT_FALSE(gpus) << failing;
    EXPECT_EQ(gpus.error().stage, Stage::device);
    EXPECT_EQ(gpus.error().message, name + " failed with CUDA error 999.");
    EXPECT_THAT(gpus.error().hint, HasSubstr("nvidia-smi"));
  }
  set("ATTNSCOPE_FAKE_FAILS", "no GPU");
  EXPECT_TRUE(opened->gpus()->empty());
  set("ATTNSCOPE_FAKE_FAILS", "cuDriverGetVersion");
  EXPECT_EQ(Driver::open().error().message, "cuDriverGetVersion failed with CUDA error 999.");
}

TEST_F(DriverTest, ANamedLibraryThatIsNoDriverIsAFailureThatNamesIt) {
  set("ATTNSCOPE_LIBCUDA", (root_ / "libcuda.so.1").string());
  EXPECT_THAT(Driver::open().error().message, HasSubstr((root_ / "libcuda.so.1").string()));
  set("ATTNSCOPE_LIBCUDA", fake("cublas").string());
  EXPECT_THAT(Driver::open().error().message, HasSubstr("lacks cuInit"));
}

TEST_F(DriverTest, WithoutOneTheMachineHasNoDriver) {
  const auto opened = Driver::open();
  if (opened) GTEST_SKIP() << "this machine has a driver";
  EXPECT_EQ(opened.error().stage, Stage::device);
  EXPECT_EQ(opened.error().message, "There is no NVIDIA driver on this machine (no libcuda.so.1).");
  EXPECT_THAT(opened.error().hint, HasSubstr("emulated devices"));
}

TEST_F(DriverTest, ItsCallsAreTheWholeTableOrAFailure) {
  driver(12080);
  const auto opened = Driver::open();
  ASSERT_TRUE(opened);
  EXPECT_THAT(opened->calls().error().message, HasSubstr("lacks cuDeviceGetPCIBusId"));
}

}  // namespace
}  // namespace attnscope::cuda_api
