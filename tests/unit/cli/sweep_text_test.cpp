#include "cli/sweep_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.h"

namespace attnscope::cli {
namespace {

using testing::HasSubstr;

TEST(SweepText, CountsReasonsAndWritesTheWinnersCommand) {
  Observation run;
  run.verdict.emplace().state = VerdictState::correct;
  run.timing.emplace().p50 = 10;
  Scan scan;
  ScanPoint point;
  point.value.label = "K=2";
  point.config.knobs["K"] = 2;
  point.observation = std::make_shared<Observation>(run);
  scan.points.push_back(point);
  sweep::Plan plan;
  plan.kernel.id = "own";
  plan.kernel.knobs.push_back({"K", {{1, ""}, {2, ""}}, 1, ""});
  plan.held.device = "box/gpu";
  plan.kernel_dirs = {"my kernels"};
  const std::vector<search::Excluded> excluded(
      3, {{{{"K", 1}}, {}}, search::Exclusion::limit, "own: too big", "", "too big"});
  const sweep::Board board = sweep::board_of(scan, excluded, plan.kernel);
  const std::string text = text_of(board, plan, {1, 0}, false);
  EXPECT_THAT(text, HasSubstr("3 rejected:\n     3  limit: too big\n"));
  EXPECT_THAT(text, HasSubstr("\n  attnscope run --kernel own --set K=2 --problem B=1,H=8,S=512,D=64 --device box/gpu "
                              "--kernels 'my kernels'\n"));
  EXPECT_THAT(text, HasSubstr("(not watched)"));
  EXPECT_EQ(to_json(board, plan, {1, 0})["rejected"].size(), 3u);
}

}  // namespace
}  // namespace attnscope::cli
