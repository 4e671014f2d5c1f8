#include "cuda_api/driver_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <set>

#include "cuda_api/driver.h"
#include "cuda_api/pixel_calls.h"

namespace attnscope::cuda_api {
namespace {

using testing::HasSubstr;

TEST(DriverCalls, ALibraryThatLacksOneSaysWhich) {
  const auto library = SharedLibrary::open(std::string(ATTNSCOPE_FAKES) + "/fake_libcuda_12080.so");
  ASSERT_TRUE(library) << library.error().message;
  const auto calls = DriverCalls::load(*library);
  ASSERT_FALSE(calls);
  EXPECT_EQ(calls.error().stage, Stage::device);
  EXPECT_THAT(calls.error().message, HasSubstr("lacks cu"));
}

// A table of calls has only function pointers: none may be missing or mistaken for another.
template <class Calls>
void expect_whole(const Calls& calls) {
  std::array<void*, sizeof(Calls) / sizeof(void*)> all;
  std::memcpy(all.data(), &calls, sizeof(Calls));
  for (size_t at = 0; at < all.size(); ++at) EXPECT_NE(all[at], nullptr) << at;
  EXPECT_EQ(std::set<void*>(all.begin(), all.end()).size(), all.size());
  EXPECT_EQ(calls.name_of(700), "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(calls.name_of(1), "CUDA error 1");
  EXPECT_EQ(calls.name_of(12345), "CUDA error 12345");
}

TEST(DriverCalls, OfALibraryThatHasThemAllEachIsTaken) {
  const std::string whole = std::string(ATTNSCOPE_FAKES) + "/fake_whole_libcuda.so";
  const auto library = SharedLibrary::open(whole);
  ASSERT_TRUE(library) << library.error().message;
  const auto calls = DriverCalls::load(*library);
  ASSERT_TRUE(calls) << calls.error().message;
  expect_whole(*calls);
  setenv("ATTNSCOPE_LIBCUDA", whole.c_str(), 1);
  const auto pixels = PixelCalls::open();
  unsetenv("ATTNSCOPE_LIBCUDA");
  ASSERT_TRUE(pixels) << pixels.error().message;
  expect_whole(*pixels);
}

TEST(DriverCalls, TellsErrorsThatNoContextSurvives) {
  for (const int code : {214, 220, 226, 702, 709, 710, 714, 715, 716, 717, 718, 721, 999})  // CUresult's reference
    EXPECT_TRUE(is_sticky(code)) << code;
  EXPECT_TRUE(is_sticky(700));  // illegal address
  EXPECT_TRUE(is_sticky(719));  // launch failure
  EXPECT_FALSE(is_sticky(0));
  EXPECT_FALSE(is_sticky(1));    // invalid value
  EXPECT_FALSE(is_sticky(2));    // out of memory
  EXPECT_FALSE(is_sticky(701));  // launch out of resources
}

}  // namespace
}  // namespace attnscope::cuda_api
