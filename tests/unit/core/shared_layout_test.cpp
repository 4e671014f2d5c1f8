// Rows of shared memory as the lanes of an access reveal them, and the same access in another layout.
#include "core/shared_layout.h"

#include <gtest/gtest.h>

#include <functional>

namespace attnscope {
namespace {

// Every lane, or those of `mask`, at the byte that `at` says.
SharedAccess access(const std::function<int64_t(int)>& at, int64_t bytes = 4, int64_t mask = 0xffffffff,
                    SharedUse use = SharedUse::load) {
  SharedAccess made{.mask = mask, .bytes = bytes, .use = use};
  for (int lane = 0; lane < 32; ++lane)
    if (made.active(lane)) made.at[size_t(lane)] = at(lane);
  return made;
}

TEST(RowBytes, AreTheDistanceThatAllLanesShare) {
  EXPECT_EQ(row_bytes(access([](int lane) { return 128 * lane; })), 128);
  EXPECT_EQ(row_bytes(access([](int lane) { return 272 * (lane / 2); })), 272);
  EXPECT_EQ(row_bytes(access([](int lane) { return 4096 - 64 * lane; })), 64) << "backwards";
  EXPECT_EQ(row_bytes(access([](int lane) { return 64 * lane + 20; })), 64) << "from wherever it begins";
  EXPECT_EQ(row_bytes(access([](int lane) { return lane == 3 ? 96 : 128; })), 32) << "from 32 bytes on";
  EXPECT_EQ(row_bytes(access([](int lane) { return lane == 3 ? 159 : 128; })), 0) << "31 are no row";
  EXPECT_EQ(row_bytes(access([](int lane) { return 4 * lane; })), 0) << "one row";
  EXPECT_EQ(row_bytes(access([](int) { return 64; })), 0) << "one place";
  EXPECT_EQ(row_bytes({}), 0) << "no lane";
}

TEST(RowBytes, OnlyActiveLanesCount) {
  const auto odd = [](int lane) { return lane % 2 == 0 ? 7 * int64_t{lane} : 256 * int64_t{lane}; };
  EXPECT_EQ(row_bytes(access(odd, 4, 0xaaaaaaaa)), 512);
  EXPECT_EQ(row_bytes(access(odd, 4, 0x80000002)), 256 * 30);
}

TEST(RowBytes, OfMatricesRowsOfTheSameMatrixCount) {
  // Four matrices 48 bytes apart, whose rows are 128 bytes apart.
  const auto matrices = [](int lane) { return 128 * int64_t{lane % 8} + 48 * int64_t{lane / 8}; };
  EXPECT_EQ(row_bytes(access(matrices, 16, 0xffffffff, SharedUse::matrices)), 128);
  EXPECT_EQ(row_bytes(access(matrices, 16)), 0) << "of a load all distances count, which share 16 bytes";
}

// Chunks of 16 bytes permuted within rows of 64 to 1,024 bytes: each row of a matrix is in the next row.
TEST(RowBytes, OfPermutedChunksIsThePowerOfTwoWhoseRowsFollow) {
  for (const int64_t row : {32, 64, 128, 256, 512, 1024}) {
    const int64_t chunks = std::min<int64_t>(row / 16, 8);
    const auto permuted = [&](int lane) { return row * int64_t{lane % 8} + 16 * ((3 ^ (lane % 8)) % chunks); };
    // Its distances are multiples of 16 only.
    EXPECT_EQ(row_bytes(access(permuted, 16, 0xffffffff, SharedUse::matrices)), row) << row;
    EXPECT_EQ(row_bytes(access(permuted, 16, 0xff, SharedUse::matrices)), row) << "one matrix";
  }
  const auto far = [](int lane) { return 2048 * int64_t{lane % 8} + 16 * (int64_t{3} ^ (lane % 8)); };
  EXPECT_EQ(row_bytes(access(far, 16, 0xffffffff, SharedUse::matrices)), 0) << "longer rows are not looked for";
  EXPECT_EQ(row_bytes(access([](int lane) { return 16 * int64_t{lane % 8}; }, 16, 0xff, SharedUse::load)), 0);
}

TEST(LowestByte, IsThatOfTheActiveLanes) {
  EXPECT_EQ(lowest_byte(access([](int lane) { return 400 - 4 * lane; })), 400 - 4 * 31);
  EXPECT_EQ(lowest_byte(access([](int lane) { return 400 - 4 * lane; }, 4, 0xf)), 400 - 4 * 3);
  EXPECT_EQ(lowest_byte({}), 0);
}

TEST(Relaid, PaddingMovesEachRowByItsNumber) {
  const SharedAccess before = access([](int lane) { return 1000 + 128 * int64_t{lane / 4} + 4 * int64_t{lane % 4}; });
  const SharedAccess after = relaid(before, 128, 1000, kPaddedRows);
  for (int lane = 0; lane < 32; ++lane)
    EXPECT_EQ(after.at[size_t(lane)], before.at[size_t(lane)] + 16 * (lane / 4)) << lane;
  EXPECT_EQ(after.bytes, before.bytes);
  EXPECT_EQ(after.mask, before.mask);
  EXPECT_EQ(after.use, before.use);
  EXPECT_EQ(relaid(before, 128, 1000, {}), before) << "no padding, no swizzle";
}

TEST(Relaid, ASwizzleIsTheChunksNumberAndTheRows) {
  // Chunk c of row r: in a row of 128 bytes all eight are permuted, in one of 64 four, in one of 48 two and the third
  // stays.
  const struct { int64_t row, chunks; } cases[] = {{128, 8}, {256, 8}, {64, 4}, {32, 2}, {48, 2}, {144, 8}};
  for (const auto& [row, chunks] : cases)
    for (int64_t chunk = 0; chunk < row / 16; ++chunk) {
      const SharedAccess before = access([&](int lane) { return row * int64_t{lane} + 16 * chunk + 4; });
      const SharedAccess after = relaid(before, row, 0, kSwizzledRows);
      const bool whole = (chunk / chunks + 1) * chunks * 16 <= row;
      for (int64_t lane = 0; lane < 32; ++lane) {
        const int64_t to = whole ? chunk / chunks * chunks + ((chunk % chunks) ^ (lane % chunks)) : chunk;
        EXPECT_EQ(after.at[size_t(lane)], row * lane + 16 * to + 4) << row << ", chunk " << chunk << ", lane " << lane;
      }
    }
}

TEST(Relaid, InactiveLanesStayWhereTheyAre) {
  SharedAccess some = access([](int lane) { return 128 * int64_t{lane}; }, 4, 0xf0);
  const SharedAccess after = relaid(some, 128, 0, kPaddedRows);
  EXPECT_EQ(after.at[3], 0);
  EXPECT_EQ(after.at[4], 4 * (128 + 16));
}

}  // namespace
}  // namespace attnscope
