#include "charts/roofline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscope::charts {
namespace {

class RooflineTest : public testing::Test {
 protected:
  RooflineTest() {
    spec_.id = "here";
    spec_.name = "A device";
    spec_.sms = 50;
    spec_.clock_mhz = 2000;
    spec_.dram_gbs = 300;
    spec_.l2_mb = 48;
    spec_.tensor_tflops_f16 = 120;
    spec_.rates = {{"fp32", 128}, {"l2_sectors", 1}};
  }
  Observation& add(double us, const std::string& device = "here", int64_t batch = 1) {
    auto made = std::make_shared<Observation>();
    made->experiment.device = device;
    made->experiment.problem.batch = batch;
    made->timing.emplace().p50 = us;
    runs_.push_back({runs_.size() + 1, made, "", ""});
    return *made;
  }
  Roofline made(uint64_t a = 0, uint64_t b = 0) const {
    LatencyChart chart;
    append(chart, runs_);
    return roofline(chart, spec_, a, b);
  }

  DeviceSpec spec_;
  std::vector<charts::Run> runs_;
};

TEST_F(RooflineTest, RoofsAreTheDevicesCeilings) {
  add(100);
  const Roofline seen = made();
  ASSERT_EQ(seen.roofs.size(), 4u);
  EXPECT_EQ(seen.roofs[0].name, "Tensor Cores");
  EXPECT_DOUBLE_EQ(seen.roofs[1].most, 2 * 128 * 50 * 2000 * 1e-6) << "FP32";
  EXPECT_DOUBLE_EQ(seen.roofs[1].tflops(7), seen.roofs[1].most);
  EXPECT_DOUBLE_EQ(seen.roofs[2].most, 32 * 50 * 2000 * 1e-3) << "L2";
  EXPECT_DOUBLE_EQ(seen.roofs[3].tflops(10), 3) << "300 GB/s at 10 operations a byte";
  spec_.dram_gbs = 0;
  EXPECT_EQ(made().roofs.size(), 3u) << "without a figure there is no roof";
}

// B1 H8 S512 D64: 4 x 8 x 512 x 512 x 64 operations, 4 x 8 x 512 x 64 halves.
TEST_F(RooflineTest, APointIsItsProblemsIntensityAndItsTime) {
  add(100).timing->kind = FigureKind::measured;
  add(50);
  const Roofline seen = made(1, 2);
  ASSERT_EQ(seen.points.size(), 2u);
  EXPECT_DOUBLE_EQ(seen.points[0].intensity, 4.0 * 8 * 512 * 512 * 64 / (4.0 * 8 * 512 * 64 * 2));
  EXPECT_DOUBLE_EQ(seen.points[1].intensity, seen.points[0].intensity);
  EXPECT_NEAR(seen.points[0].tflops, 4.0 * 8 * 512 * 512 * 64 / 100e-6 * 1e-12, 1e-9);
  EXPECT_NEAR(seen.points[1].tflops, 2 * seen.points[0].tflops, 1e-9);
  EXPECT_EQ(seen.points[0].kind, FigureKind::measured);
  EXPECT_TRUE(seen.points[0].is_a && !seen.points[0].is_b);
  EXPECT_TRUE(seen.points[1].is_b && !seen.points[1].is_a);
  EXPECT_LT(seen.x_low, seen.points[0].intensity);
  EXPECT_GT(seen.x_high, seen.points[0].intensity);
  EXPECT_LT(seen.y_low, seen.points[0].tflops);
  EXPECT_GT(seen.y_high, 120);
}

TEST_F(RooflineTest, TheRoofOverAPointIsTheLowestThatBinds) {
  spec_.dram_gbs = 100;
  add(100);
  EXPECT_EQ(made().points[0].roof, "Tensor Cores") << "2 MB stay in the second-level cache";
  EXPECT_NEAR(made().points[0].share, made().points[0].tflops / 120, 1e-12);
  add(10000, "here", 64);
  EXPECT_EQ(made().points[1].roof, "DRAM") << "256 operations a byte at 100 GB/s are 25.6 TFLOP/s";
  EXPECT_NEAR(made().points[1].share, made().points[1].tflops / 25.6, 1e-9);
}

TEST_F(RooflineTest, ARoofBelowOneTflopBindsToo) {
  spec_.tensor_tflops_f16 = 0.75;
  add(1e6);
  EXPECT_EQ(made().points[0].roof, "Tensor Cores") << "the roof of the second-level cache is higher";
  EXPECT_NEAR(made().points[0].share, made().points[0].tflops / 0.75, 1e-12);
}

TEST_F(RooflineTest, OnlyTimedRunsOnTheDeviceArePoints) {
  add(100, "elsewhere");
  EXPECT_EQ(made().why_not, "No run on A device has a time yet.");
  add(100).timing.reset();
  EXPECT_TRUE(made().points.empty());
  add(100).verdict.emplace().state = VerdictState::wrong;
  ASSERT_EQ(made().points.size(), 1u);
  EXPECT_TRUE(made().points[0].faulty);
  EXPECT_EQ(made().why_not, "");
}

// An eighth below the leftmost point, four times the rightmost; a third below the lowest, and twice the highest roof of
// arithmetic or point.
TEST_F(RooflineTest, TheAxesLeaveRoomAroundThePointsAndTheRoofs) {
  add(100);
  add(400);
  add(50, "here", 2).experiment.problem.seq_q = 1024;
  const Roofline seen = made();
  double left = 1e300, right = 0, low = 1e300;
  for (const RooflinePoint& point : seen.points) {
    left = std::min(left, point.intensity), right = std::max(right, point.intensity);
    low = std::min(low, point.tflops);
  }
  ASSERT_LT(left, right);
  EXPECT_DOUBLE_EQ(seen.x_low, left / 8);
  EXPECT_DOUBLE_EQ(seen.x_high, right * 4);
  EXPECT_DOUBLE_EQ(seen.y_low, low / 3);
  EXPECT_DOUBLE_EQ(seen.y_high, 2 * 120);
  add(1e-3);  // above every roof
  EXPECT_DOUBLE_EQ(made().y_high, 2 * made().points.back().tflops);
}

TEST_F(RooflineTest, AProblemWithoutAConventionHasNoPoint) {
  add(100).experiment.problem.kind = ProblemKind::reduction;
  EXPECT_THAT(made().why_not, testing::HasSubstr("No convention"));
}

}  // namespace
}  // namespace attnscope::charts
