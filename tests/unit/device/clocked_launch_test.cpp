// The launch of an instrumented twin between two readings of the SMs' clocks, on a fake GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda_device_test.h"
#include "measure/clock_spans.h"

namespace attnscope::device {
namespace {

using testing::CudaDeviceTest;
using ::testing::HasSubstr;
using testing::kCache;

// A twin of the minimal kernel: what it writes, the test writes.
class ClockedLaunch : public CudaDeviceTest {
 protected:
  ClockedLaunch() {
    gpu_.ours["attnscope_clocks"] = [this](std::byte* parameters, const model::LaunchShape& shape) {
      EXPECT_GE(shape.grid[0], 58) << "a reader for every SM";
      auto* clocks = reinterpret_cast<measure::SmClock*>(tensor(parameters, 0));
      for (int64_t cta = 0; cta < shape.grid[0]; ++cta)
        clocks[cta] = {1000u + 2000u * static_cast<uint64_t>(read_), 100u + 1000u * static_cast<uint64_t>(read_),
                       static_cast<uint32_t>(cta % 58), 0};
      ++read_;
      order_ += 'c';
      return 0;
    };
    gpu_.kernel = [this](std::byte* parameters) {
      uint64_t at = 0;  // the minimal kernel has 9 parameters: 4 addresses, a float and 4 ints
      std::memcpy(&at, parameters + 56, sizeof at);
      auto* spans = reinterpret_cast<measure::WarpClocks*>(at);
      const bool recorded = order_.find('c') != order_.npos;
      for (uint32_t warp = 0; warp < 16 * 4; ++warp) {
        if (recorded) {
          EXPECT_EQ(spans[warp].to, 0U) << "the first launch's clocks are cleared";
        }
        spans[warp] = {1100 + warp, 1200 + warp, warp / 4 % 58, 0};
      }
      order_ += 'k';
      return 0;
    };
  }
  // The minimal cubin with a parameter more, as its twin declares it.
  Result<measure::ClockSpans> clocks(Device& on) {
    const auto twin = compile_twin();
    if (!twin) return fail(twin.error());
    LaunchRequest asked = request(on);
    asked.loaded = on.load(**twin).value();
    return on.clocks(asked);
  }
  static Result<std::shared_ptr<const compile::Variant>> compile_twin() {
    compile::Compiler compiler(compile::CompilerOptions{.cache_dir = kCache / "variants"});
    compile::CompileRequest request;
    request.source =
        "extern \"C\" __global__ void attention_minimal(const void*, const void*, const void*, void* o, float, int, "
        "int, "
        "int, int, void* clocks) { if (o == clocks) *(int*)o = 1; }";
    request.file_name = "twin.cu";
    request.entry = "attention_minimal";
    return compiler.compile(request);
  }

  std::string order_;
  int read_ = 0;
};

TEST_F(ClockedLaunch, ItRunsOnceToWarmUpAndOnceBetweenTheReadings) {
  const auto one = device();
  const auto made = clocks(*one);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(order_, "kckc");
  EXPECT_EQ(made->total_ctas, 16);
  EXPECT_EQ(made->warps, 4);
  ASSERT_EQ(made->spans.size(), 64U);
  EXPECT_EQ(made->spans[63].from, 1163U);
  const auto timeline = measure::measured_timeline(*made, 58, {}, {});
  ASSERT_TRUE(timeline) << timeline.error().message;
  EXPECT_EQ(timeline->ctas.size(), 16U);
  EXPECT_NEAR(timeline->clock_mhz, 2000, 1e-6);
  EXPECT_EQ(timeline->ctas[1].from, 4) << "all SMs were read at one time";
}

TEST_F(ClockedLaunch, AFaultOfTheTwinIsNamed) {
  const auto one = device();
  gpu_.kernel = [](std::byte*) { return 700; };
  const auto made = clocks(*one);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().stage, Stage::launch);
  EXPECT_THAT(made.error().message, HasSubstr("minimal THREADS=128"));
}

TEST_F(ClockedLaunch, MemoryThatIsNotThereIsSaid) {
  const auto one = device();
  ASSERT_TRUE(clocks(*one));
  gpu_.memory_limit = gpu_.allocated + 512;
  const auto made = clocks(*one);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().stage, Stage::limits);
}

}  // namespace
}  // namespace attnscope::device
