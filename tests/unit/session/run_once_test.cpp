#include "session/run_once.h"

#include "session_fixture.h"

namespace attnscope::session {
namespace {

TEST_F(SessionTest, RunOnceIsAWholeSession) {
  auto observation = run_once(options_, tiled(8), Watch::never);
  ASSERT_TRUE(observation) << observation.error().message;
  EXPECT_EQ(observation->timing, recorded("m32_w8").timing);
  EXPECT_FALSE(std::filesystem::exists(options_.state_dir)) << "nothing is kept";
}

TEST_F(SessionTest, RunOnceSaysWhyThereIsNoSession) {
  options_.workers.clear();
  const auto refused = run_once(options_, tiled(8), Watch::never);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "no worker is given");
}

// It looks on while the run goes, and ends it when it is asked to.
TEST_F(SessionTest, RunOnceTellsWhatHappensAndCanBeStopped) {
  worker({"--gate", gate()});  // which never opens
  std::atomic<bool> stop = false;
  int with_a_worker = 0;  // looks; the first may come before the worker does
  const auto look = [&](const Snapshot& snapshot) {
    with_a_worker += snapshot.workers.empty() ? 0 : 1;
    if (with_a_worker >= 2) stop = true;
  };
  const auto stopped = run_once(options_, tiled(8), Watch::never, look, &stop);
  EXPECT_GE(with_a_worker, 2);  // it may look once more before it ends
  EXPECT_TRUE(!stopped || stopped->failure);
}

}  // namespace
}  // namespace attnscope::session
