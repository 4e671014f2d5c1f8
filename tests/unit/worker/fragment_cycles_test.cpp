#include "worker/fragment_cycles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace attnscope::worker {
namespace {

using Outputs = std::vector<std::shared_ptr<const check::GuardedBuffer>>;

Kernel a_microbenchmark() {
  Kernel kernel;
  kernel.id = "micro";
  ClockedFragment& fragment = kernel.fragment.emplace();
  fragment.cycles = "clocks";
  fragment.function = "product";
  fragment.executions = 16;
  return kernel;
}

Workload a_workload(int64_t ctas) {
  return {{{"x", BufferRole::in, ElementType::f32, {4}, {}},
           {"y", BufferRole::out, ElementType::f32, {4}, {}},
           {"clocks", BufferRole::out, ElementType::f32, {ctas}, {}}},
          {},
          {}};
}

Outputs outputs_with(const std::vector<float>& clocks) {
  auto y = std::make_shared<check::GuardedBuffer>("y", 16);
  auto of = std::make_shared<check::GuardedBuffer>("clocks", clocks.size() * sizeof(float));
  std::memcpy(of->data().data(), clocks.data(), clocks.size() * sizeof(float));
  return {y, of};
}

TEST(FragmentCycles, AreWhatTheCtasWrote) {
  const auto found = measured_cycles(a_microbenchmark(), a_workload(3), outputs_with({300, 100.5F, 200}), 3);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, (FragmentCycles{FigureKind::measured, 3, 100.5, 200, 300}));
}

TEST(FragmentCycles, ACtaThatWroteNoneIsAFailure) {
  for (const float wrong : {0.0F, -1.0F, std::nanf(""), HUGE_VALF}) {
    const auto found = measured_cycles(a_microbenchmark(), a_workload(2), outputs_with({300, wrong}), 2);
    ASSERT_FALSE(found) << wrong;
    EXPECT_EQ(found.error().stage, Stage::check);
    EXPECT_NE(found.error().message.find("clocks"), std::string::npos);
  }
}

TEST(FragmentCycles, EachCtaHasOneElement) {
  for (const int64_t ctas : {1, 3}) {
    const auto found = measured_cycles(a_microbenchmark(), a_workload(2), outputs_with({300, 200}), ctas);
    ASSERT_FALSE(found) << ctas;
    EXPECT_NE(found.error().message.find("2 elements"), std::string::npos);
  }
}

TEST(FragmentCycles, TheModelsAreTheFunctionsShareOfTheTime) {
  Timing timing;
  timing.p50 = 10;
  timing.interval_low = 8;
  timing.interval_high = 15;
  timing.clock_mhz = 1600;
  timing.terms = Terms{{}, {{"launch and tail", 6, {}}, {"product", 4, {}}}, ""};
  DeviceSpec spec;
  spec.sms = 58;
  const auto found = modelled_cycles(a_microbenchmark(), timing, 1, spec);
  ASSERT_TRUE(found);
  // 4 us of 1,600 clocks each, for 16 executions.
  EXPECT_EQ(*found, (FragmentCycles{FigureKind::modelled, 1, 320, 400, 600}));
  EXPECT_FALSE(modelled_cycles(a_microbenchmark(), timing, 59, spec)) << "CTAs share an SM";
  timing.terms->phases.pop_back();
  EXPECT_FALSE(modelled_cycles(a_microbenchmark(), timing, 1, spec)) << "the time has no such phase";
}

}  // namespace
}  // namespace attnscope::worker
