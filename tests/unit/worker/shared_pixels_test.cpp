#include "worker/shared_pixels.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace attnscope::worker {
namespace {

using testing::ElementsAre;

// The window's two buffers, in the test's own memory, over a fake driver.
class SharedPixelsTest : public testing::Test {
 protected:
  // As fakes/fake_pixels_libcuda.c has them.
  struct Counts {
    int gpu, contexts, opened, closed, copies, waits;
    unsigned flags;
  };
  SharedPixelsTest() {
    const std::string library = std::string(ATTNSCOPE_FAKES) + "/fake_pixels_libcuda.so";
    setenv("ATTNSCOPE_LIBCUDA", library.c_str(), 1);
    handle_ = dlopen(library.c_str(), RTLD_NOW);
    counts_ = handle_ ? static_cast<Counts*>(dlsym(handle_, "fake_pixels")) : nullptr;
    if (counts_) *counts_ = {};
  }
  ~SharedPixelsTest() override {
    unsetenv("ATTNSCOPE_LIBCUDA");
    unsetenv("ATTNSCOPE_FAKE_FAILS");
    if (handle_) dlclose(handle_);
  }
  static std::string handle_of(const float* memory) {
    std::string handle(PixelTarget::kHandleBytes, '\0');
    std::memcpy(handle.data(), &memory, sizeof memory);
    return handle;
  }
  Tile tile(std::vector<float> values, uint64_t ticket = 0) {
    Tile tile;
    tile.values = std::move(values);
    tile.request.target = PixelTarget{2, {handle_of(even_), handle_of(odd_)}, sizeof even_, ticket};
    return tile;
  }
  // Why the target was not used; empty: it was used.
  std::string deliver(Tile& tile) {
    pixels_.deliver(tile);
    EXPECT_EQ(tile.in_target, tile.not_in_target.empty());
    EXPECT_EQ(tile.in_target, tile.values.empty());
    return tile.not_in_target;
  }

  float even_[4] = {}, odd_[4] = {};
  SharedPixels pixels_;
  void* handle_ = nullptr;
  Counts* counts_ = nullptr;
};

TEST_F(SharedPixelsTest, ValuesGoToTheTicketsBufferAndTheirExtremesStay) {
  ASSERT_TRUE(counts_);
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
  Tile first = tile({3, nan, -2, infinite});
  EXPECT_EQ(deliver(first), "");
  EXPECT_EQ(first.low, -2);
  EXPECT_EQ(first.high, 3);
  EXPECT_EQ(even_[0], 3);
  EXPECT_TRUE(std::isnan(even_[1]));
  EXPECT_EQ(even_[2], -2);
  Tile second = tile({5, 6}, 1);
  EXPECT_EQ(deliver(second), "");
  EXPECT_EQ(second.low, 0) << "zero is one of the extremes";
  EXPECT_EQ(second.high, 6);
  EXPECT_THAT(odd_, ElementsAre(5, 6, 0, 0));
  Tile third = tile({7}, 2);
  EXPECT_EQ(deliver(third), "");
  EXPECT_EQ(even_[0], 7);
  EXPECT_EQ(counts_->gpu, 2);
  EXPECT_EQ(counts_->contexts, 1) << "a GPU's context is retained once";
  EXPECT_EQ(counts_->opened, 2) << "and a buffer opened once";
  EXPECT_EQ(counts_->flags, 1u);
  EXPECT_EQ(counts_->copies, 3);
  EXPECT_EQ(counts_->waits, 3);
}

TEST_F(SharedPixelsTest, ATileWithoutATargetKeepsItsValues) {
  Tile plain;
  plain.values = {1, 2};
  pixels_.deliver(plain);
  EXPECT_FALSE(plain.in_target);
  EXPECT_EQ(plain.not_in_target, "");
  EXPECT_THAT(plain.values, ElementsAre(1, 2));
  EXPECT_EQ(counts_->contexts, 0);
}

TEST_F(SharedPixelsTest, AMapMustFitItsBuffer) {
  Tile whole = tile({1, 2, 3, 4});
  EXPECT_EQ(deliver(whole), "");
  Tile larger = tile({1, 2, 3, 4, 5});
  EXPECT_EQ(deliver(larger), "the map is larger than the window's GPU memory for it");
}

TEST_F(SharedPixelsTest, ARefusedCallSaysWhatItWasFor) {
  const std::pair<const char*, const char*> kCalls[] = {
      {"cuInit", "the executor cannot use the GPU for maps (CUDA_ERROR)"},
      {"cuDeviceGet", "the executor cannot use the GPU for maps (CUDA_ERROR)"},
      {"cuDevicePrimaryCtxRetain", "the executor cannot use the GPU for maps (CUDA_ERROR)"},
      {"cuCtxSetCurrent", "the executor cannot use the GPU for maps (CUDA_ERROR)"},
      {"cuIpcOpenMemHandle", "the executor cannot open the window's GPU memory (CUDA_ERROR)"},
      {"cuMemcpyHtoD", "the map did not reach the GPU (CUDA_ERROR)"},
      {"cuCtxSynchronize", "the map did not reach the GPU (CUDA_ERROR)"}};
  for (const auto& [call, why] : kCalls) {
    pixels_ = {};
    setenv("ATTNSCOPE_FAKE_FAILS", call, 1);
    Tile refused = tile({1, 2});
    EXPECT_EQ(deliver(refused), why) << call;
    EXPECT_THAT(refused.values, ElementsAre(1, 2));
    unsetenv("ATTNSCOPE_FAKE_FAILS");
    Tile later = tile({1, 2});
    EXPECT_EQ(deliver(later), "") << "the next attempt succeeds";
  }
}

TEST_F(SharedPixelsTest, WithoutADriverTheTileKeepsItsValues) {
  setenv("ATTNSCOPE_LIBCUDA", "/nowhere/libcuda.so.1", 1);
  Tile plain = tile({1, 2});
  EXPECT_THAT(deliver(plain), testing::HasSubstr("/nowhere/libcuda.so.1"));
}

TEST_F(SharedPixelsTest, BuffersOfClosedWindowsAreClosedInTheEnd) {
  float memory[9][1] = {};
  for (int window = 0; window < 9; ++window) {
    Tile one = tile({1});
    one.request.target->buffers[0] = handle_of(memory[window]);
    EXPECT_EQ(deliver(one), "");
    EXPECT_EQ(counts_->closed, window < 8 ? 0 : 8) << window;
  }
  EXPECT_EQ(counts_->opened, 9);
  Tile again = tile({1});
  again.request.target->buffers[0] = handle_of(memory[0]);
  EXPECT_EQ(deliver(again), "");
  EXPECT_EQ(counts_->opened, 10) << "it is opened again";
}

}  // namespace
}  // namespace attnscope::worker
