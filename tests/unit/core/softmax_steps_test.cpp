#include "core/softmax_steps.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attnscope {
namespace {

// Three tiles of two keys, of which the row may see five; the second tile raises the maximum by 2.
SoftmaxSteps three_tiles() {
  SoftmaxSteps steps;
  steps.keys = 2, steps.visible = 5, steps.head_dim = 1;
  steps.m = {1, 3, 3}, steps.l = {1.5f, 2, 2.25f};
  steps.exact_m = {1, 3, 3}, steps.exact_l = {1.5f, 1.75f, 2};
  steps.scores = {1, 0, 3, 2, 1, -7};
  steps.o = {10, 20, 30};
  return steps;
}

TEST(SoftmaxTiles, SayWhatEachAddsToTheSum) {
  const auto tiles = tiles_of(three_tiles());
  ASSERT_EQ(tiles.size(), 3u);
  const double factor = std::exp(-2.0);
  EXPECT_EQ(tiles[0].factor, 0) << "there was nothing before";
  EXPECT_DOUBLE_EQ(tiles[0].added, 1.5);
  EXPECT_DOUBLE_EQ(tiles[1].factor, factor);
  EXPECT_DOUBLE_EQ(tiles[1].added, 2 - 1.5 * factor);
  EXPECT_EQ(tiles[2].factor, 1);
  EXPECT_DOUBLE_EQ(tiles[2].added, 0.25);
  EXPECT_TRUE(tiles[0].raised && tiles[1].raised);
  EXPECT_FALSE(tiles[2].raised);
  EXPECT_EQ(tiles[1].exact_l, 1.75f);
  EXPECT_EQ(tiles[1].exact_m, 3);
}

TEST(SoftmaxTiles, HaveTheKeysThatTheRowMaySee) {
  SoftmaxSteps steps = three_tiles();
  EXPECT_TRUE(has_all_tiles(steps));
  const auto tiles = tiles_of(steps);
  EXPECT_EQ(tiles[1].first_key, 2);
  EXPECT_EQ(tiles[1].end_key, 4);
  EXPECT_EQ(tiles[2].first_key, 4);
  EXPECT_EQ(tiles[2].end_key, 5);
  steps.visible = 3;
  EXPECT_EQ(tiles_of(steps)[2].first_key, 3) << "none of the tile";
  EXPECT_EQ(tiles_of(steps)[2].end_key, 3);
  steps.visible = 6;
  EXPECT_TRUE(has_all_tiles(steps));
  steps.visible = 7;
  EXPECT_FALSE(has_all_tiles(steps));
}

TEST(SoftmaxTiles, AnExponentOfTwoIsInUnitsOfItsLogarithm) {
  SoftmaxSteps steps = three_tiles();
  steps.unit = 1 / std::log(2.0);
  EXPECT_DOUBLE_EQ(tiles_of(steps)[1].factor, 0.25);
}

TEST(SoftmaxTiles, ListsThatTheManifestDoesNotNameAreEmpty) {
  SoftmaxSteps steps = three_tiles();
  EXPECT_EQ(tiles_of(steps)[1].largest, 3);
  EXPECT_EQ(scores_of(steps, 1)[1], 2);
  EXPECT_EQ(o_of(steps, 2)[0], 30);
  EXPECT_EQ(o_of(steps, 2).size(), 1u);
  EXPECT_TRUE(weights_of(steps, 1).empty());
  steps.scores.clear();
  EXPECT_TRUE(std::isnan(tiles_of(steps)[1].largest));
  EXPECT_EQ(row_text({0, 3, 17}), "batch 0, head 3, row 17");
}

}  // namespace
}  // namespace attnscope
