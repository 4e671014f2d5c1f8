#include "lone_cta.h"

#include <gtest/gtest.h>

#include "model/rates.h"
#include "unit/model/schedules_for_tests.h"

namespace attnscope::kernel_tests {
namespace {

TEST(LoneCta, WaitsForWhatItsCodeNames) {
  const DeviceSpec h200 = device_spec("emulated:h200");
  const auto clocks = [&](const std::vector<std::vector<model::ScheduledInstruction>>& blocks,
                          const std::vector<std::vector<uint32_t>>& warps) {
    Counted of;
    of.schedule = model::schedule(blocks, warps);
    return lone_cta_clocks(of, h200).front();
  };
  using model::shared_load, model::use, model::Unit;
  const double shared = model::rates::rate(h200, model::rates::kLatencyShared);
  const std::vector<model::ScheduledInstruction> other(10, model::instruction(Unit::fp32));
  EXPECT_DOUBLE_EQ(clocks({{shared_load(1), use()}, other}, {{0, 1}}), shared + 11) << "load and use stand together";
  EXPECT_DOUBLE_EQ(clocks({{shared_load(1)}, other, {use()}}, {{0, 1, 2}}), shared + 1) << "with work between them";
  const double wavefront = 1 / model::rates::rate(h200, model::rates::kWarpWavefronts);
  EXPECT_DOUBLE_EQ(clocks({{shared_load(16), use()}}, {{0}}), 15 * wavefront + shared + 1) << "with bank conflicts";
  EXPECT_DOUBLE_EQ(clocks({{shared_load(1), use()}, {model::instruction(Unit::barrier)}, other}, {{0, 1, 2}, {1, 2}}),
                   shared + 1 + model::rates::rate(h200, model::rates::kLatencyBarrier) + 10)
      << "the second warp waits for the first";
  EXPECT_DOUBLE_EQ(clocks({other}, {std::vector<uint32_t>(3, 0)}),
                   30 + 2 * model::rates::rate(h200, model::rates::kLatencyBranch));
}

}  // namespace
}  // namespace attnscope::kernel_tests
