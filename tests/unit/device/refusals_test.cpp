// Any call that the driver refuses is a failure that names it, and nothing is left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "check/verdict.h"
#include "cuda_device_test.h"

namespace attnscope::device {
namespace {

using testing::CudaDeviceTest;
using ::testing::HasSubstr;

class Refusals : public CudaDeviceTest {
 protected:
  using Scenario = std::function<Result<void>(Device&, const LaunchRequest&)>;

  // Refuses the scenario's first call of that name, then the second and so on, until the scenario makes no further one.
  void refuse(const std::string& call, const Scenario& scenario, bool in_capture = false) {
    constexpr int most = 64;  // a warm-up makes as many as fit into its time
    bool reached = true;
    for (int after = 0; reached && after < most; ++after) {
      auto one = device();
      ASSERT_TRUE(one);
      LaunchRequest wanted = request(*one);
      wanted.dynamic_shared = 1024;
      gpu_.refused = call;
      gpu_.refused_after = after;
      gpu_.refused_in_capture = in_capture;
      const Result<void> done = scenario(*one, wanted);
      reached = gpu_.refused_after < 0;
      gpu_.refused.clear();
      EXPECT_EQ(done.has_value(), !reached) << call << " refused after " << after;
      EXPECT_TRUE(reached || after > 0) << call << " is never made";
      if (!done) {
        EXPECT_THAT(done.error().message, HasSubstr("cuda:0")) << call;
        EXPECT_THAT(done.error().message, HasSubstr("CUDA_ERROR")) << call;
      }
      wanted.loaded.reset();
      one.reset();
      EXPECT_EQ(gpu_.modules, 0) << call << " refused after " << after;
      EXPECT_EQ(gpu_.graphs, 0) << call << " refused after " << after;
      EXPECT_EQ(gpu_.events, 0) << call << " refused after " << after;
      EXPECT_EQ(gpu_.allocated, 0u) << call << " refused after " << after;
    }
  }
  static Scenario timing(CacheState cache) {
    return [cache](Device& one, const LaunchRequest& wanted) -> Result<void> {
      auto timer = one.timer(wanted, cache, {});
      if (!timer) return fail(timer.error());
      if (auto begun = (*timer)->begin_round(); !begun) return begun;
      if (auto taken = (*timer)->take(); !taken) return fail(taken.error());
      return {};
    };
  }
};

TEST_F(Refusals, OfEnteringTheGpu) {
  for (const auto& [call, name] : {std::pair{"device_get", "cuDeviceGet"},
                                   {"primary_context_retain", "cuDevicePrimaryCtxRetain"},
                                   {"context_set_current", "cuCtxSetCurrent"},
                                   {"stream_create", "cuStreamCreate"},
                                   {"module_load_data", "cuModuleLoadData"},
                                   {"module_get_function", "cuModuleGetFunction"}}) {
    auto one = device();
    gpu_.refused = call;
    gpu_.refused_after = 0;
    const auto loaded = one->load(variant_);
    gpu_.refused.clear();
    ASSERT_FALSE(loaded) << call;
    EXPECT_EQ(loaded.error().stage, call == std::string("module_load_data") ? Stage::decode : Stage::device);
    EXPECT_THAT(loaded.error().message, HasSubstr(std::string(name) + " failed with CUDA_ERROR.")) << call;
    EXPECT_TRUE(one->load(variant_)) << "the next attempt succeeds";
    one.reset();
    EXPECT_EQ(gpu_.modules, 0) << call;
  }
}

TEST_F(Refusals, OfARun) {
  const Scenario run = [](Device& one, const LaunchRequest& wanted) -> Result<void> {
    const auto outcome = one.run(wanted, {});
    if (!outcome) return fail(outcome.error());
    return {};
  };
  for (const char* call : {"memory_alloc", "copy_to_device", "copy_to_host", "launch", "stream_query",
                           "function_set_attribute", "module_load_data", "module_get_function"})
    refuse(call, run);
}

TEST_F(Refusals, OfAVerdict) {
  const Scenario judge = [](Device& one, const LaunchRequest& wanted) -> Result<void> {
    const auto outcome = one.run(wanted, {});
    if (!outcome) return fail(outcome.error());
    const auto reference = one.reference(wanted.problem, check::Accumulate::f32);
    if (!reference) return fail(reference.error());
    const auto compared = one.compare(*outcome, *reference);
    if (!compared) return fail(compared.error());
    return {};
  };
  for (const char* call : {"memory_alloc", "copy_to_host", "launch"}) refuse(call, judge);
}

TEST_F(Refusals, OfAHotTiming) {
  for (const char* call : {"event_create", "stream_begin_capture", "stream_end_capture", "graph_instantiate",
                           "graph_launch", "module_load_data", "function_set_attribute", "copy_to_device"})
    refuse(call, timing(CacheState::hot));
  for (const char* call : {"event_record", "launch"}) refuse(call, timing(CacheState::hot), true);
}

TEST_F(Refusals, OfAColdTiming) {
  gpu_.kernel_us = 1000;  // few repetitions
  for (const char* call : {"event_create", "stream_begin_capture", "stream_end_capture", "graph_instantiate",
                           "graph_launch", "module_load_data"})
    refuse(call, timing(CacheState::cold));
  for (const char* call : {"memory_set", "event_record", "launch"}) refuse(call, timing(CacheState::cold), true);
}

}  // namespace
}  // namespace attnscope::device
