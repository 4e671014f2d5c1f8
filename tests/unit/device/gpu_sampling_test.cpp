// A GPU's program counters through a CUPTI that is as strict as the real one (tests/unit/cuda_api/fakes/fake_cupti.c).
#include "device/cuda/gpu_sampling.h"

#include <gmock/gmock.h>

#include "gpu_profile_test.h"

namespace attnscope::device {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GpuSamplingTest : public testing::GpuProfileTest {
 protected:
  Result<PcSamples> sample() {
    const auto one = device_with(cupti());
    auto wanted = request(*one);
    auto samples = one->sample(wanted, [&] { ++steps_; });
    EXPECT_EQ(told("fake_cupti_open"), 0) << "everything is given back, also after a refusal";
    return samples;
  }
  PcSamples samples() {
    auto said = sample();
    EXPECT_TRUE(said) << said.error().message;
    return said ? *said : PcSamples{};
  }
  Failure refusal() {
    const auto said = sample();
    EXPECT_FALSE(said);
    return said ? Failure{} : said.error();
  }

  int steps_ = 0;
};

TEST_F(GpuSamplingTest, SamplesAreFoundInTheCode) {
  const PcSamples said = samples();
  // The fake gives each of the three ranges the same.
  ASSERT_EQ(said.instructions.size(), 2u);
  const SampledInstruction &first = said.instructions[0], &second = said.instructions[1];
  EXPECT_EQ(first.at, 2) << "offset 0x20";
  EXPECT_EQ(first.samples, 3 * (1000 + 3000)) << "those in which nothing issued are among them";
  EXPECT_EQ(first.unissued, 3 * 2000);
  EXPECT_THAT(first.stalls, ElementsAre(SampledStall{"barrier", 9000}, SampledStall{"selected", 3000}))
      << "most samples first, in CUPTI's word";
  EXPECT_EQ(second.at, 4);
  EXPECT_EQ(second.stalls.front(), (SampledStall{"selected", 7500}));
  EXPECT_EQ(said.samples, 3 * (4000 + 3000));
  EXPECT_EQ(said.elsewhere, 3 * 70) << "of a function that is not the run's";
  EXPECT_EQ(said.dropped, 3 * 5);
  EXPECT_EQ(said.period, 1024);
}

TEST_F(GpuSamplingTest, ItIsLaunchedUntilThereAreEnoughSamples) {
  std::vector<int> sampled;
  gpu_.kernel = [&](std::byte*) { return sampled.push_back(told("fake_cupti_sampling")), 0; };
  EXPECT_EQ(samples().launches, 3) << "7,000 of 20,000 with the first";
  EXPECT_EQ(sampled, (std::vector<int>{1, 2, 2, 2})) << "the first launch makes the caches hot";
  EXPECT_GE(steps_, 4) << "every launch has a deadline of its own";
  EXPECT_EQ(gpu_.graphs, 0) << "nothing is timed";
}

// CUPTI knows only code that is loaded after it is told to sample.
TEST_F(GpuSamplingTest, TheCodeIsLoadedWhileSamplingIsOn) {
  const auto one = device_with(cupti());
  auto wanted = request(*one);
  const int before = gpu_.modules;
  ASSERT_TRUE(one->sample(wanted, [] {}));
  EXPECT_GT(gpu_.modules, before);
}

TEST_F(GpuSamplingTest, AFullBufferTakesALongerPeriod) {
  set("ATTNSCOPE_FAKE_CUPTI", "full");
  const PcSamples said = samples();
  EXPECT_EQ(said.period, int64_t{1} << 18);
  EXPECT_EQ(said.samples, 21000) << "nothing is kept of the tries before";
  set("ATTNSCOPE_FAKE_CUPTI", "always full");
  EXPECT_EQ(refusal().message, "cuda:0: its buffer for samples filled up with every period.");
}

TEST_F(GpuSamplingTest, WithoutPermissionTheDriversSettingIsNamed) {
  refuse("cuptiPCSamplingEnable", 35);
  const Failure said = refusal();
  EXPECT_EQ(said.stage, Stage::device);
  EXPECT_THAT(said.message, HasSubstr("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"));
  EXPECT_THAT(said.hint, AllOf(HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"), HasSubstr("SYS_ADMIN")));
  refuse("cuptiPCSamplingStart", 26);
  EXPECT_THAT(refusal().message, HasSubstr("its hardware counters are held by "));
}

TEST_F(GpuSamplingTest, AGpuWithoutSupportSaysWhichOfItsReasons) {
  refuse("cuptiPCSamplingEnable", 27);
  set("ATTNSCOPE_FAKE_CUPTI", "no sampling");
  EXPECT_EQ(refusal().message, "cuda:0 does not let CUPTI sample its program counters: its architecture is too old.");
}

TEST_F(GpuSamplingTest, WhatComesLateIsWaitedFor) {
  set("ATTNSCOPE_FAKE_CUPTI", "late");
  EXPECT_EQ(samples().samples, 21000);
}

TEST_F(GpuSamplingTest, EveryCallThatFailsIsNamed) {
  for (const char* call :
       {"cuptiPCSamplingEnable", "cuptiPCSamplingGetNumStallReasons", "cuptiPCSamplingGetStallReasons",
        "cuptiPCSamplingSetConfigurationAttribute", "cuptiGetCubinCrc", "cuptiPCSamplingStart", "cuptiPCSamplingStop",
        "cuptiPCSamplingGetData"}) {
    refuse(call, 1);
    EXPECT_EQ(refusal().message, std::string("cuda:0: ") + call + " failed with CUPTI_ERROR_INVALID_PARAMETER.");
  }
}

TEST_F(GpuSamplingTest, DataThatMakesNoSenseIsRefused) {
  for (const auto& [fault, what] : {std::pair{"no reasons", "it has 0 stall reasons"},
                                    {"one number", "two stall reasons have one number"},
                                    {"many places", "4097 places where there was room for 4096"},
                                    {"endless samples", "more than 64 calls leave some to get"},
                                    {"no function", "a place without a function"},
                                    {"far offset", "offset 1073741824 in attention_minimal, which has "},
                                    {"odd offset", "offset 8 in attention_minimal, which has "},
                                    {"many reasons", "6 reasons at one place, of 5"},
                                    {"unknown reason", "a stall reason 99"}}) {
    set("ATTNSCOPE_FAKE_CUPTI", fault);
    const Failure said = refusal();
    EXPECT_THAT(said.message, HasSubstr(std::string("cuda:0: CUPTI's samples make no sense: ") + what)) << fault;
    EXPECT_EQ(said.stage, Stage::device);
  }
  set("ATTNSCOPE_FAKE_CUPTI", "no samples");
  EXPECT_THAT(refusal().message, HasSubstr("took no sample of the kernel in 64 launches"));
}

TEST_F(GpuSamplingTest, AReasonsNameWithoutAnEndIsCut) {
  set("ATTNSCOPE_FAKE_CUPTI", "long name");
  const PcSamples said = samples();
  EXPECT_EQ(said.instructions.front().stalls.front().reason, std::string(128 - 33, 'x'));
}

TEST_F(GpuSamplingTest, AKernelsFaultIsTheKernels) {
  int launches = 0;
  gpu_.kernel = [&](std::byte*) { return ++launches == 2 ? 700 : 0; };
  EXPECT_EQ(refusal().stage, Stage::launch);
}

// Counters and samples are taken one after the other in one process.
TEST_F(GpuSamplingTest, CountersAreReadBeforeAndAfter) {
  EXPECT_TRUE(profile());
  EXPECT_EQ(samples().samples, 21000);
  EXPECT_TRUE(profile());
}

TEST_F(GpuSamplingTest, AProcessThatTimesSamplesNone) {
  const auto one = device();
  auto wanted = request(*one);
  const auto said = one->sample(wanted, [] {});
  ASSERT_FALSE(said);
  EXPECT_THAT(said.error().message, HasSubstr("times kernels"));
}

}  // namespace
}  // namespace attnscope::device
