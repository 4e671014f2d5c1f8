#include "cli/softmax_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "unit/cli/made_up_kernel.h"

namespace attnscope::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// Two tiles of two keys; the row sees three keys, and the second has the larger score.
SoftmaxSteps steps() {
  SoftmaxSteps made;
  made.row = {1, 2, 17};
  made.cta = 9;
  made.keys = 2;
  made.visible = 3;
  made.head_dim = 2;
  made.m = {1, 3};
  made.l = {1.5f, 1.25f};
  made.exact_m = made.m;
  made.exact_l = {1.5f, 1.2031f};
  made.scores = {1, 0.25f, 3, -std::numeric_limits<float>::infinity()};
  made.weights = {1, 0.5f, 1, 0};
  made.o = {4, 5, 6, 7};
  made.output = {4.75f, 5.5f};
  made.m_line = 250;
  made.l_line = 263;
  made.scores_line = 149;
  made.end_line = 275;
  return made;
}

TEST(SoftmaxText, ALineForEachTile) {
  const auto text = softmax_text(steps(), made_up_kernel(), 0);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_THAT(*text,
              HasSubstr("made_up, batch 1, head 2, row 17, in CTA 9 as emulated; it sees 3 keys, in tiles of 2"));
  EXPECT_THAT(*text, HasSubstr("    1         0 to 1            1            1            0          1.5"));
  EXPECT_THAT(*text, HasSubstr("    2         2 to 2            3            3       0.1353         1.25"));
  EXPECT_THAT(*text, HasSubstr("1.203\n"));
  EXPECT_THAT(*text, HasSubstr("m is written at made_up.cu:250, l at made_up.cu:263; the scores are first read at "
                               "made_up.cu:149; a tile ends with the barrier at made_up.cu:275."));
  EXPECT_THAT(*text, Not(HasSubstr("Scores, by key")));
}

TEST(SoftmaxText, ATileHasItsScoresAndO) {
  const auto second = softmax_text(steps(), made_up_kernel(), 2);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_THAT(*second, HasSubstr("Tile 2: l = 1.5 x 0.1353 + 1.047 = 1.25"));
  EXPECT_THAT(*second, HasSubstr("Scores, by key\n      2           3       -inf\n"));
  EXPECT_THAT(*second, HasSubstr("O, not yet divided by l, by column\n      0           6          7\n"));
  EXPECT_THAT(*second, HasSubstr("stored it, by column\n      0        4.75        5.5\n"));
  EXPECT_THAT(*softmax_text(steps(), made_up_kernel(), 1), Not(HasSubstr("stored it")));
  EXPECT_THAT(softmax_text(steps(), made_up_kernel(), 3).error().hint, HasSubstr("2 tiles of 2 keys"));
}

TEST(SoftmaxText, TilesThatAreNotKeptAreSaid) {
  EXPECT_THAT(*softmax_text(steps(), made_up_kernel(), 0), Not(HasSubstr("the first")));
  SoftmaxSteps more = steps();
  more.visible = 5;
  EXPECT_THAT(*softmax_text(more, made_up_kernel(), 0), HasSubstr("in tiles of 2; here are the first 2 tiles\n"));
  EXPECT_THAT(softmax_text(more, made_up_kernel(), 3).error().hint, HasSubstr("The first 2 tiles of 2 keys are kept."));
}

TEST(SoftmaxText, WhatIsNotNamedIsLeftOut) {
  SoftmaxSteps few = steps();
  few.scores.clear();
  few.weights.clear();
  few.o.clear();
  few.scores_line = 0;
  const auto text = softmax_text(few, made_up_kernel(), 1);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("nan"));
  EXPECT_THAT(*text, Not(HasSubstr("the scores are first read")));
  EXPECT_THAT(*text, Not(HasSubstr("by column")));
}

}  // namespace
}  // namespace attnscope::cli
