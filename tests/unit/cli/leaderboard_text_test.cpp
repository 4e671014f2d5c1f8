#include "cli/leaderboard_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.h"
#include "unit/cli/made_up_kernel.h"

namespace attnscope::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class LeaderboardText : public testing::Test {
 protected:
  LeaderboardText() {
    run_.experiment.kernel = "made_up";
    run_.experiment.device = run_.device = "cuda:0";
    run_.versions.gpu = "H200";
    run_.verdict.emplace().state = VerdictState::correct;
    run_.timing.emplace().p50 = 5;
  }
  charts::Leaderboard board() const {
    charts::Leaderboard made;
    made.leaders.push_back({{std::make_shared<const Observation>(run_), 1}, 1, false, {}});
    return made;
  }
  std::string text() const { return text_of(board(), {made_up_kernel()}, dirs_, false); }
  Json row() const { return to_json(board(), {made_up_kernel()}, dirs_, false)["leaders"][0]; }

  Observation run_;
  std::vector<std::string> dirs_;
};

TEST_F(LeaderboardText, ARowSaysThatItWasNotWatched) {
  EXPECT_THAT(text(), HasSubstr("made_up  (not watched)\n"));
  EXPECT_FALSE(row()["watched"].get<bool>());
  run_.watch.emplace();
  EXPECT_THAT(text(), Not(HasSubstr("not watched")));
  EXPECT_TRUE(row()["watched"].get<bool>());
}

TEST_F(LeaderboardText, TheCommandFindsItsKernel) {
  EXPECT_THAT(text(), HasSubstr("      attnscope run --kernel made_up --problem "));
  EXPECT_THAT(text(), Not(HasSubstr("--kernels")));
  dirs_ = {"mine", "more"};
  EXPECT_THAT(text(), HasSubstr(" --device cuda:0 --kernels mine --kernels more\n"));
  EXPECT_THAT(row()["command"].get<std::string>(), HasSubstr(" --kernels mine --kernels more"));
}

TEST_F(LeaderboardText, AColdRunHasNoCommand) {
  run_.experiment.measure.cache = run_.timing->cache = CacheState::cold;
  EXPECT_THAT(text(), HasSubstr("      it was timed cold, and run has no option for that\n"));
  EXPECT_TRUE(row()["command"].is_null());
  EXPECT_EQ(row()["no_command"], "it was timed cold, and run has no option for that");
  EXPECT_EQ(to_json(board(), {}, {}, false)["cache"], "cold");
}

}  // namespace
}  // namespace attnscope::cli
