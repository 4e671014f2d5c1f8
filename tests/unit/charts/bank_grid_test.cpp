#include "charts/bank_grid.h"

#include <gtest/gtest.h>

#include <functional>

namespace attnscope::charts {
namespace {

SharedAccess access(int64_t bytes, const std::function<int64_t(int)>& at) {
  SharedAccess made{{}, 0xffffffff, bytes, SharedUse::load};
  for (int lane = 0; lane < 32; ++lane) made.at[size_t(lane)] = at(lane);
  return made;
}

// A column of 32 rows of 128 bytes.
SharedAccess column(int64_t bytes) {
  return access(bytes, [](int lane) { return 128 * lane; });
}

TEST(BankGrid, AColumnOfRowsOfAllBanksIsOneBank) {
  const BankGrid grid = bank_grid(column(4));
  EXPECT_EQ(grid.wavefronts, (Wavefronts{32, 1}));
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(grid.words[size_t(lane)][0], 1);
    EXPECT_EQ(grid.words[size_t(lane)][1], 0);
  }
  EXPECT_EQ(grid.phases[0].distinct[0], 32);
  EXPECT_EQ(grid.phases[0].distinct[31], 0);
}

TEST(BankGrid, NeighboursTakeEachBankOnce) {
  const BankGrid grid = bank_grid(access(4, [](int lane) { return 4 * lane; }));
  EXPECT_EQ(grid.wavefronts, (Wavefronts{1, 1}));
  for (int bank = 0; bank < 32; ++bank) EXPECT_EQ(grid.phases[0].distinct[size_t(bank)], 1);
}

TEST(BankGrid, ABroadcastIsOneWord) {
  const BankGrid grid = bank_grid(access(4, [](int) { return 64; }));
  EXPECT_EQ(grid.wavefronts, (Wavefronts{1, 1}));
  EXPECT_EQ(grid.phases[0].distinct[16], 1);
  EXPECT_EQ(grid.words[31][16], 1);
}

TEST(BankGrid, LanesThatAreOffTakeNothing) {
  SharedAccess few = column(16);
  few.mask = 0b101;
  const BankGrid grid = bank_grid(few);
  EXPECT_EQ(grid.words[1][0], 0);
  EXPECT_EQ(grid.words[2][3], 1);
  EXPECT_EQ(grid.phases[0].distinct[0], 2);
  EXPECT_EQ(grid.wavefronts, (Wavefronts{2, 1}));
}

// 16 bytes a lane are four quarters of a warp.
TEST(BankGrid, WideAccessesAreServedInQuarters) {
  EXPECT_EQ(bank_grid(column(16)).wavefronts, (Wavefronts{32, 4}));
  EXPECT_EQ(bank_grid(access(16, [](int lane) { return 16 * lane; })).wavefronts, (Wavefronts{4, 4}));
}

TEST(Relaid, PaddingAndSwizzleSpreadAColumn) {
  EXPECT_EQ(row_bytes(column(16)), 128);
  const SharedAccess padded = relaid(column(16), 128, 0, {16, false}), swizzled = relaid(column(16), 128, 0, {0, true});
  EXPECT_EQ(padded.at[3], 3 * 144);
  EXPECT_EQ(swizzled.at[3], 3 * 128 + 3 * 16);
  EXPECT_EQ(swizzled.at[9], 9 * 128 + 16);
  EXPECT_EQ(bank_grid(padded).wavefronts, (Wavefronts{4, 4}));
  EXPECT_EQ(bank_grid(swizzled).wavefronts, (Wavefronts{4, 4}));
  EXPECT_EQ(bank_grid(relaid(column(4), 128, 0, {4, false})).wavefronts, (Wavefronts{1, 1})) << "a word of padding";
  EXPECT_EQ(relaid(column(4), 128, 0, {}), column(4));
}

// Rows of 32 bytes have two chunks: a swizzle stays within them.
TEST(Relaid, ASwizzleStaysInItsRow) {
  const SharedAccess rows = access(4, [](int lane) { return 32 * lane; });
  EXPECT_EQ(row_bytes(rows), 32);
  const SharedAccess made = relaid(rows, 32, 0, {0, true});
  for (int lane = 0; lane < 32; ++lane) EXPECT_EQ(made.at[size_t(lane)] / 32, lane);
  EXPECT_EQ(made.at[1], 48);
}

// Four matrices of halves in rows of 128 bytes with permuted chunks: a second permutation undoes the first.
TEST(Relaid, MatricesTellOfPermutedRows) {
  SharedAccess matrices = access(16, [](int lane) { return 4096 + 128 * (lane % 16) + 16 * (lane / 16 ^ lane % 8); });
  EXPECT_EQ(row_bytes(matrices), 0) << "a load of 16 bytes a lane";
  matrices.use = SharedUse::matrices;
  EXPECT_EQ(row_bytes(matrices), 128);
  EXPECT_EQ(bank_grid(matrices).wavefronts, (Wavefronts{4, 4}));
  EXPECT_EQ(bank_grid(relaid(matrices, 128, 4096, {0, true})).wavefronts, (Wavefronts{32, 4}));
}

TEST(Relaid, LanesOfOneRowHaveNoRows) {
  EXPECT_EQ(row_bytes(access(4, [](int lane) { return 4 * lane; })), 0);
  EXPECT_EQ(row_bytes(access(4, [](int) { return 64; })), 0);
  EXPECT_EQ(row_bytes(SharedAccess{}), 0);
}

}  // namespace
}  // namespace attnscope::charts
