#include "core/scan.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace {

Scan scan_of(size_t points) {
  Scan scan;
  scan.held.kernel = "tiled";
  scan.held.config.knobs = {{"BLOCK_M", 32}, {"WARPS", 4}};
  scan.points.resize(points);
  for (ScanPoint& point : scan.points) point.knob = "BLOCK_M";
  return scan;
}

TEST(Scan, IsOverWhenEveryPointHasEnded) {
  Scan scan = scan_of(3);
  EXPECT_FALSE(scan.over());
  scan.points[0].observation = std::make_shared<Observation>();
  scan.points[1].refused = Failure{Stage::limits, "too much", ""};
  EXPECT_FALSE(scan.over());
  scan.points[2].same_as = 0;
  EXPECT_TRUE(scan.over());
  EXPECT_EQ(scan.timed(2), scan.points[0].observation.get());
  EXPECT_EQ(scan.timed(1), nullptr);
  Scan ended = scan_of(1);
  ended.ended_early = true;
  EXPECT_TRUE(ended.over());
  ended = scan_of(1);
  ended.failure = Failure{Stage::input, "no such knob", ""};
  EXPECT_TRUE(ended.over());
}

TEST(Scan, AppliesToDraftsThatDifferInItsKnobOnly) {
  const Scan scan = scan_of(1);
  Draft draft = scan.held;
  EXPECT_TRUE(scan.holds(draft));
  draft.config.knobs["BLOCK_M"] = 64;
  EXPECT_TRUE(scan.holds(draft));
  EXPECT_FALSE(scan.holds("WARPS", draft));
  draft.config.knobs["WARPS"] = 8;
  EXPECT_FALSE(scan.holds(draft));
  draft = scan.held;
  draft.problem.seq_q = 7;
  EXPECT_FALSE(scan.holds(draft));
}

TEST(Scan, OfConfigsHasPointsWithoutAKnob) {
  Scan scan = scan_of(1);
  EXPECT_FALSE(scan.of_config());
  scan.points[0].knob.clear();
  EXPECT_TRUE(scan.of_config());
  EXPECT_FALSE(Scan().of_config());
}

}  // namespace
}  // namespace attnscope
