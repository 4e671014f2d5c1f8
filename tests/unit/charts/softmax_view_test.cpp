#include "charts/softmax_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numbers>
#include <numeric>

namespace attnscope::charts {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A row that sees 7 keys, in tiles of `keys`. After n tiles m is n and l is 10 n; key k has score k and weight 0.1 k;
// O has two columns.
SoftmaxSteps steps(int64_t keys) {
  SoftmaxSteps made;
  made.keys = keys;
  made.visible = 7;
  made.head_dim = 2;
  const auto tiles = static_cast<size_t>((made.visible + keys - 1) / keys);
  for (size_t at = 0; at < tiles; ++at) {
    made.m.push_back(static_cast<float>(at + 1));
    made.l.push_back(static_cast<float>(10 * (at + 1)));
    made.o.insert(made.o.end(), {static_cast<float>(at), static_cast<float>(100 * at)});
  }
  made.exact_m = made.m;
  made.exact_l = made.l;
  made.scores.resize(tiles * static_cast<size_t>(keys));
  std::iota(made.scores.begin(), made.scores.end(), 0.0f);
  for (const float score : made.scores) made.weights.push_back(0.1f * score);
  return made;
}

TEST(SoftmaxView, ATileSaysHowItsSumCameAbout) {
  SoftmaxSteps made = steps(4);
  made.m = {1, 3};
  made.l = {1.5f, 1.25f};
  EXPECT_EQ(sum_text(made, 0), "0 x 0 + 1.5 = 1.5");
  EXPECT_EQ(sum_text(made, 1), "1.5 x 0.1353 + 1.047 = 1.25");
  EXPECT_EQ(sum_text(made, 2), "");
}

TEST(SoftmaxGhost, StandsAtTheSameKeys) {
  const SoftmaxSteps a = steps(4), b = steps(4);
  const auto ghost = softmax_ghost(a, b, 1);
  ASSERT_TRUE(ghost);
  EXPECT_EQ(ghost->tile, 1u);
  EXPECT_EQ(ghost->keys, 7) << "that the row may see";
  EXPECT_EQ(ghost->m, 2);
  EXPECT_EQ(ghost->l, 20);
  EXPECT_THAT(ghost->scores, ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(ghost->weights, ElementsAre(0.4f, 0.5f, 0.6f, 0.7f));
  EXPECT_THAT(ghost->o, ElementsAre(1, 100));
  EXPECT_EQ(ghost_text(*ghost), "A: m 2, l 20");
  EXPECT_FALSE(softmax_ghost(a, b, 2)) << "B has no such tile";
}

TEST(SoftmaxGhost, OfOtherTilesOnlyWhatIsAtTheSameKeysStandsThere) {
  const SoftmaxSteps a = steps(2), b = steps(4);
  const auto first = softmax_ghost(a, b, 0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->tile, 1u) << "A has taken 4 keys after two tiles";
  EXPECT_EQ(first->l, 20);
  EXPECT_THAT(first->scores, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(first->weights, IsEmpty()) << "A's tile has only two of the keys";
  EXPECT_THAT(first->o, ElementsAre(1, 100));
  const auto last = softmax_ghost(b, a, 0);
  ASSERT_TRUE(last);
  EXPECT_FALSE(last->tile) << "none ends after 2 keys";
  EXPECT_THAT(last->scores, ElementsAre(0, 1));
  EXPECT_THAT(last->o, IsEmpty());
  EXPECT_EQ(ghost_text(*last), "A: no tile ends at 2 keys");
  EXPECT_EQ(softmax_ghost(b, a, 3)->tile, 1u) << "the last tiles end with the row";
}

TEST(SoftmaxGhost, TheMaximumIsInBsUnit) {
  SoftmaxSteps a = steps(4);
  const SoftmaxSteps b = steps(4);
  a.unit = std::numbers::log2e;
  a.m[0] = static_cast<float>(3 * std::numbers::log2e);
  EXPECT_NEAR(softmax_ghost(a, b, 0)->m, 3, 1e-6);
}

TEST(SoftmaxGhost, OfAnotherRowThereIsNone) {
  SoftmaxSteps a = steps(4);
  a.row.row = 5;
  EXPECT_FALSE(softmax_ghost(a, steps(4), 0));
}

TEST(SoftmaxGhost, WhatAsManifestDoesNotNameIsEmpty) {
  SoftmaxSteps a = steps(4);
  a.scores.clear();
  a.weights.clear();
  a.o.clear();
  const SoftmaxSteps b = steps(4);
  const auto ghost = softmax_ghost(a, b, 1);
  ASSERT_TRUE(ghost);
  EXPECT_THAT(ghost->scores, IsEmpty());
  EXPECT_THAT(ghost->weights, IsEmpty());
  EXPECT_THAT(ghost->o, IsEmpty());
  EXPECT_EQ(ghost->l, 20);
}

}  // namespace
}  // namespace attnscope::charts
