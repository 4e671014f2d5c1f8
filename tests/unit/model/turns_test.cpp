// The order of turns, compared with a queue of all of them.
#include "model/turns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace attnscope::model {
namespace {

TEST(Turns, TheEarliestTurnComesFirstAndThenTheFirstWarp) {
  Turns<2> turns;
  EXPECT_TRUE(turns.empty());
  for (size_t warp = 0; warp < 4; ++warp) turns.add(warp, warp % 2);
  EXPECT_TRUE(turns.empty()) << "a warp has no turn before one is given";
  turns.give(3, 5), turns.give(1, 5), turns.give(2, 4), turns.give(0, 6);
  for (const Turn& expected : {Turn{4, 2}, Turn{5, 1}, Turn{5, 3}, Turn{6, 0}}) {
    const Turn turn = turns.take();
    EXPECT_EQ(turn.time, expected.time);
    EXPECT_EQ(turn.warp, expected.warp);
  }
  EXPECT_TRUE(turns.empty()) << "and none after it";
}

TEST(Turns, NobodyHasATurnBeforeItsSchedulerIsFree) {
  Turns<2> turns;
  for (size_t warp = 0; warp < 4; ++warp) turns.add(warp, warp % 2);
  turns.give(0, 1), turns.give(2, 0), turns.give(1, 9), turns.give(3, 8);
  turns.scheduler_free(0, 7);
  EXPECT_EQ(turns.take().warp, 0u) << "both wait; that the other one waits for longer does not count";
  const Turn second = turns.take();
  EXPECT_EQ(second.time, 7);
  EXPECT_EQ(second.warp, 2u);
  EXPECT_EQ(turns.take().time, 8) << "the other scheduler was free";
}

// Warps with a random pace on schedulers that take some clocks per turn, in the same order as in a list of all turns.
// The order is found in one way for a few warps of a scheduler and in another for more. Their pace leaves a scheduler
// idle at times.
void expect_order_of_a_list(size_t warps) {
  std::mt19937 random(14);
  Turns<4> turns;
  std::vector<double> times(warps), free(4, 0.0);
  for (size_t warp = 0; warp < warps; ++warp) turns.add(warp, warp * 7 % 4);
  for (size_t warp = 0; warp < warps; ++warp) turns.give(warp, times[warp] = double(random() % 9));
  for (int i = 0; i < 4000; ++i) {
    Turn expected{1e30, 0};
    for (size_t warp = 0; warp < warps; ++warp)
      expected = std::min(expected, Turn{std::max(times[warp], free[warp * 7 % 4]), warp});
    const Turn turn = turns.take();
    ASSERT_EQ(turn.time, expected.time) << i;
    ASSERT_EQ(turn.warp, expected.warp) << i;
    if (random() % 3 > 0) turns.scheduler_free(turn.warp * 7 % 4, free[turn.warp * 7 % 4] = turn.time + 1);
    turns.give(turn.warp, times[turn.warp] = turn.time + 0.5 * double(1 + random() % (warps * 5 / 4)));
  }
}

TEST(Turns, WarpsTakeTheirTurnsAsAListOfAllOrdersThem) { expect_order_of_a_list(24); }
TEST(Turns, MoreWarpsTakeTheirTurnsAsAListOfAllOrdersThem) { expect_order_of_a_list(96); }

}  // namespace
}  // namespace attnscope::model
