#include "charts/fragment_grid.h"

#include <gtest/gtest.h>

namespace attnscope::charts {
namespace {

// HMMA.16816.F32 R4, R8, R12, R20.
std::vector<MatrixFragment> product() {
  return {{MatrixName::a, 16, 16, 16, 2, false, 8},
          {MatrixName::b, 16, 8, 16, 2, true, 12},
          {MatrixName::c, 16, 8, 32, 2, false, 20},
          {MatrixName::d, 16, 8, 32, 2, false, 4}};
}

TEST(FragmentGrid, AProductIsAAndBAndTheTwoThatLieAlike) {
  const auto grids = fragment_grids(product());
  ASSERT_EQ(grids.size(), 3u);
  EXPECT_EQ(grids[0].title, "A  16 x 16 of 16 bits");
  EXPECT_EQ(grids[0].where, std::vector<std::string>{"A in R8 to R11"});
  EXPECT_EQ(grids[2].title, "C, D  16 x 8 of 32 bits");
  EXPECT_EQ(grids[2].where, (std::vector<std::string>{"C in R20 to R23", "D in R4 to R7"}));
  auto zeros = product();
  zeros[2].first = MatrixFragment::kZero;
  EXPECT_EQ(fragment_grids(zeros)[2].where[0], "C in RZ: zeros");
  zeros[3].bits = 16;
  EXPECT_EQ(fragment_grids(zeros).size(), 4u) << "another layout";
}

TEST(FragmentGrid, ACellIsTheNeighboursOfALane) {
  const auto grids = fragment_grids(product());
  const FragmentGrid &a = grids[0], &b = grids[1], &d = grids[2];
  ASSERT_EQ(a.row_names.size(), 16u);
  ASSERT_EQ(a.column_names.size(), 8u);
  EXPECT_EQ(a.column_names[3], "6-7");
  EXPECT_EQ(a.cell(9, 3), (FragmentPlace{7, 1, 0}));
  ASSERT_EQ(b.row_names.size(), 8u) << "B's pairs stand below each other";
  EXPECT_EQ(b.row_names[3], "6-7");
  EXPECT_EQ(b.column_names[1], "1");
  EXPECT_EQ(b.cell(3, 1), (FragmentPlace{7, 0, 0}));
  EXPECT_EQ(registers_text(a.of[0], a.cell(9, 3)), "R9");
  EXPECT_EQ(registers_text(d.of[1], d.cell(9, 3)), "R6, R7") << "two elements of 32 bits";
  EXPECT_EQ(registers_text({MatrixName::c, 16, 8, 32, 2, false, MatrixFragment::kZero}, d.cell(9, 3)), "RZ");
}

TEST(FragmentGrid, WhatALaneHoldsIsToldByRegister) {
  const auto held = held_registers(product()[0], 7);
  ASSERT_EQ(held.size(), 4u);
  EXPECT_EQ(held[0].text, "R8 (1, 6) (1, 7)");
  EXPECT_EQ(held[3].text, "R11 (9, 14) (9, 15)");
  EXPECT_EQ(held_registers(product()[3], 7)[2].text, "R6 (9, 6)");
  const auto wide = held_registers({MatrixName::d, 8, 8, 64, 2, false, 4}, 7);
  ASSERT_EQ(wide.size(), 2u);
  EXPECT_EQ(wide[1].reg, 2);
  EXPECT_EQ(wide[1].text, "R6, R7 (1, 7)");
}

TEST(FragmentGrid, ALoadSaysWhereItsRowsAre) {
  EXPECT_EQ(fragment_note(product()), "");
  EXPECT_EQ(fragment_note({}), "");
  const MatrixFragment one{MatrixName::d, 8, 8, 16, 2, false, 4}, four{MatrixName::d, 32, 8, 16, 2, true, 4};
  EXPECT_EQ(fragment_note({one}), "Row r is the 16 bytes of shared memory at lane r's address.");
  EXPECT_NE(fragment_note({four}).find("4 matrices"), std::string::npos);
  MatrixFragment from = one;
  from.matrix = MatrixName::a;
  EXPECT_NE(fragment_note({from, one}).find("transposed"), std::string::npos);
}

TEST(FragmentGrid, TheInstructionsThatHaveMatrices) {
  Listing listing;
  listing.lines.resize(3);
  EXPECT_TRUE(with_fragments(listing).empty());
  listing.lines[1].fragments = product();
  EXPECT_EQ(with_fragments(listing), std::vector<int64_t>{1});
}

}  // namespace
}  // namespace attnscope::charts
