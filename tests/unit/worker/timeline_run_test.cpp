// A run's SMs over time, from the model's input for its time.
#include "worker/timeline_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/test_cache.h"
#include "unit/worker/small_request.h"

namespace attnscope::worker {
namespace {

using testing::HasSubstr;

class TimelineRun : public testing::Test {
 protected:
  Observation run() {
    ObservingSink sink;
    const auto done = run_experiment(*services_, request_, sink);
    EXPECT_TRUE(done) << done.error().message;
    return sink.observation;
  }
  Result<SmTimeline> timeline(const TimelineAsk& ask = {}) {
    return timeline_of(*services_, request_.experiment, request_.kernel, ask);
  }

  std::unique_ptr<Services> services_ = services_in(test_cache());
  std::atomic<bool> cancel_{false};
  Request request_ = small_request(cancel_);
};

TEST_F(TimelineRun, EndsWhenTheModelSays) {
  EXPECT_FALSE(timeline()) << "nothing ran yet";
  const Observation seen = run();
  ASSERT_TRUE(seen.timing);
  ASSERT_TRUE(seen.occupancy);
  const auto made = timeline();
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(made->complete);
  EXPECT_EQ(made->total_ctas, seen.occupancy->total_ctas);
  EXPECT_EQ(made->places, seen.occupancy->ctas_per_sm);
  EXPECT_EQ(int64_t(made->ctas.size()), made->total_ctas);
  EXPECT_EQ(made->clock_mhz, seen.timing->clock_mhz);
  double launch = 0;
  for (const Term& term : seen.timing->terms->list)
    if (term.kind == TermKind::launch) launch = term.us;
  const double us = made->clocks / made->clock_mhz;
  EXPECT_LE(us, seen.timing->p50 * 1.02);
  EXPECT_GE(us, (seen.timing->p50 - launch) * 0.98) << "all but the launch";
  ASSERT_FALSE(made->warps.empty());
  float issued = 0;
  for (size_t at = 0; at < size_t(made->columns); ++at) issued += made->share(0, at, WarpState::issue);
  EXPECT_GT(issued, 0);
}

TEST_F(TimelineRun, OtherClocksAndAnotherSm) {
  run();
  TimelineAsk ask;
  ask.from = 100, ask.to = 164;
  const auto part = timeline(ask);
  ASSERT_TRUE(part) << part.error().message;
  EXPECT_EQ(part->from, 100);
  EXPECT_EQ(part->columns, 64);
  ask.sm = part->sms;
  const auto none = timeline(ask);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("has no SM"));
}

TEST_F(TimelineRun, ALaunchThatIsNoneIsRefused) {
  run();
  TimelineAsk ask;
  ask.step = 3;
  const auto made = timeline(ask);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("has no launch 4"));
}

// Only a GPU has the clocks.
TEST_F(TimelineRun, AnEmulatedDeviceHasNoClocks) {
  ObservingSink sink;
  const auto made = clocked_timeline(*services_, request_, {.measured = true}, sink);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().stage, Stage::device) << made.error().message;
  EXPECT_THAT(made.error().message, HasSubstr("has no clocks"));
}

TEST_F(TimelineRun, OneThatIsCancelledIsNotClocked) {
  class CancellingSink final : public Sink {
   public:
    explicit CancellingSink(std::atomic<bool>& cancel) : cancel_(cancel) {}
    void part(std::vector<protocol::PartValue>, bool) override {}
    void tile(Tile) override {}
    void progress(protocol::Step step, int64_t, int64_t) override {
      if (step == protocol::Step::limits) cancel_ = true;
    }

   private:
    std::atomic<bool>& cancel_;
  } sink(cancel_);
  const auto made = clocked_timeline(*services_, request_, {.measured = true}, sink);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().stage, Stage::cancelled) << made.error().message;
}

TEST(KeptClocks, TheLastLaunchesStay) {
  KeptClocks kept;
  const auto run = std::make_shared<const ClockedRun>();
  for (size_t i = 0; i <= KeptClocks::kMost; ++i) kept.keep(std::to_string(i), run);
  EXPECT_EQ(kept.find("0"), nullptr);
  EXPECT_EQ(kept.find("1"), run);
  kept.drop("1");
  EXPECT_EQ(kept.find("1"), nullptr) << "it ran again";
}

// For old runs with long paths only the counts are kept.
TEST(KeptCode, OlderPathsGoFirst) {
  const auto long_path = [] {
    auto schedule = std::make_shared<model::KernelSchedule>();
    schedule->traces = {{0, {std::vector<model::Visit>(KeptCode::kMostVisits / 2 + 1)}}};
    return KeptCode::Modelled{{{}, {}, {}, {}, {}, schedule}};
  };
  KeptCode kept;
  kept.keep("a", KeptCode::Runs(1), long_path());
  EXPECT_NE(kept.find_modelled("a"), nullptr);
  kept.keep("b", KeptCode::Runs(1), long_path());
  EXPECT_EQ(kept.find_modelled("a"), nullptr);
  EXPECT_NE(kept.find("a"), nullptr);
  EXPECT_NE(kept.find_modelled("b"), nullptr);
}

}  // namespace
}  // namespace attnscope::worker
