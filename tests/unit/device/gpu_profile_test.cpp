// A GPU's own counters through a CUPTI that is as strict as the real one (tests/unit/cuda_api/fakes/fake_cupti.c).
#include "device/cuda/gpu_profile.h"

#include <gmock/gmock.h>

#include <csignal>

#include "gpu_profile_test.h"

namespace attnscope::device {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using GpuCountersTest = testing::GpuProfileTest;

TEST_F(GpuCountersTest, EveryPassIsOneLaunchInARange) {
  std::vector<int> in_range;
  gpu_.kernel = [&](std::byte*) { return in_range.push_back(told("fake_cupti_in_range")), 0; };
  const auto counters = profile();
  ASSERT_TRUE(counters) << counters.error().message;
  EXPECT_EQ(in_range, (std::vector<int>{0, 0, 1, 0, 1, 0, 1}))
      << "a launch before makes the caches hot, once more after each of CUPTI's starts";
  EXPECT_EQ(passes_, (std::vector<std::pair<int64_t, int64_t>>{{0, 3}, {0, 3}, {1, 3}, {2, 3}, {3, 3}}))
      << "the set-up and the launch before have deadlines of their own";
  EXPECT_EQ(counters->passes, 3);
  EXPECT_EQ(counters->kind, FigureKind::measured);
  EXPECT_EQ(counters->cupti, "13.0.85");
  EXPECT_EQ(gpu_.graphs, 0) << "nothing is timed";
}

TEST_F(GpuCountersTest, EachFigureIsItsMetrics) {
  const auto counters = profile();
  ASSERT_TRUE(counters) << counters.error().message;
  EXPECT_EQ(counters->sm_busy, 10.5);
  EXPECT_EQ(counters->warps_active, 11.5);
  EXPECT_EQ(counters->tensor_busy, 12.5);
  EXPECT_EQ(counters->dram_busy, 13.5);
  EXPECT_EQ(counters->warp_instructions, 4000);
  EXPECT_EQ(counters->threads, 5000);
  EXPECT_EQ(counters->shared_wavefronts, 6000);
  EXPECT_EQ(counters->global_load_sectors, 7000);
  EXPECT_EQ(counters->global_store_sectors, 8000);
  EXPECT_EQ(counters->local_sectors, 9000 + 10000) << "loads and stores";
  EXPECT_EQ(counters->dram_read_bytes, 11000) << "by the name that newer chips have";
  EXPECT_EQ(counters->dram_write_bytes, 12000);
}

TEST_F(GpuCountersTest, AMetricThatTheChipLacksIsNotZero) {
  for (const auto& [lacks, member] :
       {std::pair{"smsp__inst_executed.sum", &HardwareCounters::warp_instructions},
        {"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", &HardwareCounters::local_sectors},
        {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", &HardwareCounters::local_sectors},
        {"dram__bytes_op_read.sum", &HardwareCounters::dram_read_bytes}}) {
    set("ATTNSCOPE_FAKE_LACKS", lacks);
    const auto counters = profile();
    ASSERT_TRUE(counters) << counters.error().message;
    EXPECT_FALSE((*counters).*member) << lacks;
    EXPECT_EQ(counters->threads, 5000);
  }
  unsetenv("ATTNSCOPE_FAKE_LACKS");
  set("ATTNSCOPE_FAKE_CUPTI", "not a number");
  EXPECT_FALSE(profile()->tensor_busy);
}

TEST_F(GpuCountersTest, WithoutPermissionTheDriversSettingIsNamed) {
  for (const int code : {35, 40}) {
    refuse("cuptiRangeProfilerEnable", code);
    const Failure said = refusal();
    EXPECT_EQ(said.stage, Stage::device);
    EXPECT_THAT(said.message, HasSubstr("lets this user read no hardware counters"));
    EXPECT_THAT(said.hint, AllOf(HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"), HasSubstr("SYS_ADMIN")));
  }
  EXPECT_THAT((refuse("cuptiRangeProfilerSetConfig", 35), refusal().message),
              HasSubstr("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"));
}

TEST_F(GpuCountersTest, AnotherHolderIsSaid) {
  for (const int code : {26, 39}) {
    refuse("cuptiRangeProfilerStart", code);
    EXPECT_THAT(refusal().message, HasSubstr("its hardware counters are held by "));
    EXPECT_THAT(refusal().hint, HasSubstr("dcgmi profiling --pause"));
  }
}

TEST_F(GpuCountersTest, AGpuWithoutSupportSaysWhichOfItsReasons) {
  set("ATTNSCOPE_FAKE_CUPTI", "vgpu");
  EXPECT_EQ(refusal().message, "cuda:0 has no hardware counters that CUPTI can read: it is a virtual GPU.");
  set("ATTNSCOPE_FAKE_CUPTI", "silent");
  EXPECT_THAT(refusal().message, HasSubstr("CUPTI does not say why"));
}

TEST_F(GpuCountersTest, EveryCallThatFailsIsNamedAndNothingStaysOpen) {
  for (const char* call :
       {"cuptiProfilerInitialize", "cuptiProfilerDeviceSupported", "cuptiDeviceGetChipName",
        "cuptiProfilerHostInitialize", "cuptiProfilerHostGetConfigImageSize", "cuptiProfilerHostGetConfigImage",
        "cuptiProfilerHostGetNumOfPasses", "cuptiRangeProfilerEnable", "cuptiRangeProfilerGetCounterDataSize",
        "cuptiRangeProfilerCounterDataImageInitialize", "cuptiRangeProfilerSetConfig", "cuptiRangeProfilerStart",
        "cuptiRangeProfilerPushRange", "cuptiRangeProfilerPopRange", "cuptiRangeProfilerStop",
        "cuptiRangeProfilerDecodeData", "cuptiRangeProfilerGetCounterDataInfo",
        "cuptiProfilerHostEvaluateToGpuValues"}) {
    refuse(call, 1);
    EXPECT_EQ(refusal().message, std::string("cuda:0: ") + call + " failed with CUPTI_ERROR_INVALID_PARAMETER.");
  }
}

TEST_F(GpuCountersTest, ALibraryThatMakesNoSenseIsRefused) {
  const auto with = [&](const char* fault) {
    set("ATTNSCOPE_FAKE_CUPTI", fault);
    return refusal().message;
  };
  EXPECT_EQ(with("no metrics"), "CUPTI has none of attnscope's metrics for the chip FAKE1.");
  EXPECT_EQ(with("endless"), "cuda:0: CUPTI asked for more than 256 passes.");
  EXPECT_EQ(with("two ranges"), "cuda:0: CUPTI kept 2 ranges and dropped 0 where there was one.");
  EXPECT_EQ(with("dropped"), "cuda:0: CUPTI kept 1 ranges and dropped 1 where there was one.");
}

TEST_F(GpuCountersTest, AKernelsFaultIsTheKernels) {
  int launches = 0;
  gpu_.kernel = [&](std::byte*) { return ++launches == 3 ? 700 : 0; };
  const Failure said = refusal();
  EXPECT_EQ(said.stage, Stage::launch);
  EXPECT_THAT(said.message, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
}

TEST_F(GpuCountersTest, AMissingLibraryIsSaidAtTheProfileAndNotBefore) {
  const auto one = device_with(fail(Stage::device, "CUPTI is not here", "Install it."));
  auto wanted = request(*one);
  EXPECT_TRUE(one->run(wanted, {}));
  const auto counters = one->profile(wanted, {});
  ASSERT_FALSE(counters);
  EXPECT_EQ(counters.error(), (Failure{Stage::device, "CUPTI is not here", "Install it."}));
}

TEST_F(GpuCountersTest, AProcessThatTimesReadsNone) {
  const auto one = device();
  auto wanted = request(*one);
  const auto counters = one->profile(wanted, {});
  ASSERT_FALSE(counters);
  EXPECT_THAT(counters.error().message, HasSubstr("times kernels"));
}

// What a profile is killed in the middle of is only its own process.
TEST_F(GpuCountersTest, AKilledProfileEndsItsProcessOnly) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a forked process would lack the compiler's threads
  set("ATTNSCOPE_FAKE_FAILS", "cuptiRangeProfilerStop");
  set("ATTNSCOPE_FAKE_CUPTI", "kill");
  EXPECT_EXIT(static_cast<void>(profile()), ::testing::KilledBySignal(SIGKILL), "");
  for (const char* name : kSettings) unsetenv(name);
  EXPECT_TRUE(profile());
}

}  // namespace
}  // namespace attnscope::device
