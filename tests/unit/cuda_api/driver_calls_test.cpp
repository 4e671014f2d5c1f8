#include "cuda_api/driver_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "cuda_api/driver.h"
#include "cuda_api/nvml.h"

namespace attnscope::cuda_api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(DriverCalls, ALibraryThatLacksOneSaysWhich) {
  const auto library = SharedLibrary::open(std::string(ATTNSCOPE_FAKES) + "/fake_libcuda_12080.so");
  ASSERT_TRUE(library) << library.error().message;
  const auto calls = DriverCalls::load(*library);
  ASSERT_FALSE(calls);
  EXPECT_EQ(calls.error().stage, Stage::device);
  EXPECT_THAT(calls.error().message, HasSubstr("lacks cu"));
}

TEST(DriverCalls, TellsErrorsThatNoContextSurvives) {
  EXPECT_TRUE(is_sticky(700));  // illegal address
  EXPECT_TRUE(is_sticky(719));  // launch failure
  EXPECT_FALSE(is_sticky(0));
  EXPECT_FALSE(is_sticky(1));    // invalid value
  EXPECT_FALSE(is_sticky(2));    // out of memory
  EXPECT_FALSE(is_sticky(701));  // launch out of resources
}

TEST(Nvml, ReasonsInWords) {
  EXPECT_THAT(reason_words(kReasonPowerCap | kReasonIdle), ElementsAre("power cap"));
  EXPECT_THAT(reason_words(kReasonThermal | kReasonHardware), ElementsAre("hardware slowdown", "thermal slowdown"));
  EXPECT_TRUE(reason_words(0).empty());
}

TEST(Nvml, AMissingLibraryIsAFailureThatNamesIt) {
  setenv("ATTNSCOPE_LIBNVML", "/nowhere/libnvidia-ml.so.1", 1);
  const auto nvml = Nvml::open();
  unsetenv("ATTNSCOPE_LIBNVML");
  ASSERT_FALSE(nvml);
  EXPECT_THAT(nvml.error().message, HasSubstr("/nowhere/libnvidia-ml.so.1"));
}

}  // namespace
}  // namespace attnscope::cuda_api
