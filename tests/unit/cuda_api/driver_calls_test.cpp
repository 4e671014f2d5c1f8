#include "cuda_api/driver_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <set>

#include "cuda_api/cublas.h"
#include "cuda_api/driver.h"
#include "cuda_api/pixel_calls.h"
#include "support/variable.h"

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
  const testing_support::Variable named("ATTNSCOPE_LIBCUDA", whole);
  const auto pixels = PixelCalls::open();
  ASSERT_TRUE(pixels) << pixels.error().message;
  expect_whole(*pixels);
}

// As cuda.h, library_types.h and cublas_api.h of CUDA 12 and 13 have them.
TEST(DriverCalls, NumbersAreThoseOfTheHeaders) {
  const std::pair<Attribute, int> kAttributes[] = {{Attribute::max_threads_per_block, 1},
                                                   {Attribute::max_shared_memory_per_block, 8},
                                                   {Attribute::max_registers_per_block, 12},
                                                   {Attribute::clock_rate, 13},
                                                   {Attribute::multiprocessor_count, 16},
                                                   {Attribute::memory_clock_rate, 36},
                                                   {Attribute::global_memory_bus_width, 37},
                                                   {Attribute::l2_cache_size, 38},
                                                   {Attribute::max_threads_per_multiprocessor, 39},
                                                   {Attribute::compute_capability_major, 75},
                                                   {Attribute::compute_capability_minor, 76},
                                                   {Attribute::max_shared_memory_per_multiprocessor, 81},
                                                   {Attribute::max_registers_per_multiprocessor, 82},
                                                   {Attribute::max_shared_memory_per_block_optin, 97},
                                                   {Attribute::max_blocks_per_multiprocessor, 106},
                                                   {Attribute::reserved_shared_memory_per_block, 111}};
  for (const auto& [attribute, number] : kAttributes) EXPECT_EQ(static_cast<int>(attribute), number);
  EXPECT_EQ(kCudaSuccess, 0);              // CUDA_SUCCESS
  EXPECT_EQ(kCudaOutOfMemory, 2);          // CUDA_ERROR_OUT_OF_MEMORY
  EXPECT_EQ(kCudaNotReady, 600);           // CUDA_ERROR_NOT_READY
  EXPECT_EQ(kCublasF32, 0);                // CUDA_R_32F
  EXPECT_EQ(kCublasF16, 2);                // CUDA_R_16F
  EXPECT_EQ(kCublasAsIs, 0);               // CUBLAS_OP_N
  EXPECT_EQ(kCublasTransposed, 1);         // CUBLAS_OP_T
  EXPECT_EQ(kCublasComputeF32, 68);        // CUBLAS_COMPUTE_32F
  EXPECT_EQ(kCublasDefaultAlgorithm, -1);  // CUBLAS_GEMM_DEFAULT
  const LaunchConfig launch;
  for (const auto& size : {launch.grid, launch.block})
    for (int axis = 0; axis < 3; ++axis) EXPECT_EQ(size[axis], 1u);
  EXPECT_EQ(launch.shared_bytes, 0u);
  EXPECT_EQ(launch.attribute_count, 0u);
}

TEST(DriverCalls, TellsErrorsThatNoContextSurvives) {
  // CUresult's reference
  for (const int code : {214, 220, 226, 702, 709, 710, 714, 715, 716, 717, 718, 721, 999})
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
