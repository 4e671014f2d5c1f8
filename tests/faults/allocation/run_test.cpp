// Memory that runs out anywhere between a request and its answer: compiler cache, emulator, check and model.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/refused_allocation.h"
#include "support/temp_dir.h"
#include "unit/worker/small_request.h"

namespace attnscope::worker {
namespace {

constexpr int64_t kMost = 300;  // a run takes some milliseconds

class Ignored final : public Sink {
 public:
  void part(std::vector<protocol::PartValue>, bool) override {}
  void tile(Tile) override {}
  void progress(protocol::Step, int64_t, int64_t) override {}
};

TEST(RefusedAllocations, OfARunAreAFailureOrCostNothing) {
  const testing_support::TempDir folder;
  std::atomic<bool> cancel{false};
  Request request = small_request(cancel);
  const auto all = services_in(folder.path());
  Ignored sink;
  const auto door = [&]() -> Result<void> {
    ++request.experiment.problem.seed;  // inputs and reference are made again
    auto done = run_experiment(*all, request, sink);
    if (!done && done.error().hint.empty()) ADD_FAILURE() << "no hint: " << done.error().message;
    return done;
  };
  const auto refusals = testing_support::refuse_each(door, kMost);
  EXPECT_GT(refusals.failed, 10);
  EXPECT_EQ(refusals.thrown, 0) << "run_experiment is the place that catches";
}

}  // namespace
}  // namespace attnscope::worker
