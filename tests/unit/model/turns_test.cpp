// The order of turns, compared with a queue of all of them.
#include "model/turns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace attnscope::model {
namespace {

template <size_t Schedulers>
Turn take(Turns<Schedulers>& turns) {
  const Turn first = turns.first();
  turns.take(first.warp);
  return first;
}

TEST(Turns, TheEarliestTurnComesFirstAndThenTheFirstWarp) {
  Turns<2> turns;
  EXPECT_TRUE(turns.empty());
  for (size_t warp = 0; warp < 4; ++warp) turns.add(warp, warp % 2);
  EXPECT_TRUE(turns.empty()) << "a warp has no turn before one is given";
  turns.give(3, 5), turns.give(1, 5), turns.give(2, 4), turns.give(0, 6);
  for (const Turn& expected : {Turn{4, 2}, Turn{5, 1}, Turn{5, 3}, Turn{6, 0}}) {
    const Turn turn = take(turns);
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
  EXPECT_EQ(take(turns).warp, 0u) << "both wait; that the other one waits for longer does not count";
  const Turn second = take(turns);
  EXPECT_EQ(second.time, 7);
  EXPECT_EQ(second.warp, 2u);
  EXPECT_EQ(take(turns).time, 8) << "the other scheduler was free";
}

TEST(Turns, ATurnStandsUntilTheWarpHasAnother) {
  Turns<2> turns;
  for (size_t warp = 0; warp < 4; ++warp) turns.add(warp, warp % 2);
  turns.give(2, 3), turns.give(1, 5);
  EXPECT_EQ(turns.first().warp, 2u);
  EXPECT_EQ(turns.first().warp, 2u);
  turns.give(2, 5.5);
  EXPECT_EQ(turns.first().warp, 1u);
  turns.take(1);
  EXPECT_EQ(turns.first().time, 5.5);
}

// Warps with a random pace on schedulers that take some clocks per turn, in the same order as in a list of all turns.
// A scheduler's warps are compared in groups: some have one, not full or full, and some several. Their pace leaves a
// scheduler idle at times.
void expect_order_of_a_list(size_t warps) {
  std::mt19937 random(14);
  Turns<4> turns;
  std::vector<double> times(warps), free(4, 0.0);
  for (size_t warp = 0; warp < warps; ++warp) turns.add(warp, warp * 7 % 4);
  for (size_t warp = 0; warp < warps; ++warp) turns.give(warp, times[warp] = double(random() % 9));
  for (int i = 0; i < 4000; ++i) {
    Turn expected{1e30, 0};
    for (size_t warp = 0; warp < warps; ++warp)
      if (const double time = std::max(times[warp], free[warp * 7 % 4]); time < expected.time) expected = {time, warp};
    const Turn turn = take(turns);
    ASSERT_EQ(turn.time, expected.time) << i;
    ASSERT_EQ(turn.warp, expected.warp) << i;
    if (random() % 3 > 0) turns.scheduler_free(turn.warp * 7 % 4, free[turn.warp * 7 % 4] = turn.time + 1);
    turns.give(turn.warp, times[turn.warp] = turn.time + 0.5 * double(1 + random() % (warps * 5 / 4)));
  }
}

TEST(Turns, AFewWarpsTakeTheirTurnsAsAListOfAllOrdersThem) {
  for (const size_t warps : {1, 3, 4, 5, 31, 32, 33}) expect_order_of_a_list(warps);
}
TEST(Turns, WarpsTakeTheirTurnsAsAListOfAllOrdersThem) { expect_order_of_a_list(24); }
TEST(Turns, MoreWarpsTakeTheirTurnsAsAListOfAllOrdersThem) { expect_order_of_a_list(96); }

}  // namespace
}  // namespace attnscope::model
