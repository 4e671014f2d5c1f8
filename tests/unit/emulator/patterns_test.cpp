// Wavefronts and sectors of single accesses: the rule recorded on an H200 (docs/emulator.md), case by case.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <sstream>

#include "emulator/exec/warp.h"
#include "support/temp_dir.h"

namespace attnscope::emulator {
namespace {

Pattern pattern_of(Access access, const std::function<int32_t(int)>& address, uint32_t mask = kFull) {
  int32_t delta[32] = {};
  const int first = __builtin_ctz(mask);
  for (int lane = 0; lane < 32; ++lane) {
    if (mask >> lane & 1) delta[lane] = address(lane) - address(first);
  }
  Pattern pattern;
  make_pattern(pattern, access, delta, mask, static_cast<uint32_t>(address(first)) & 31);
  return pattern;
}

int wavefronts(Access access, const std::function<int32_t(int)>& address, uint32_t mask = kFull) {
  return pattern_of(access, address, mask).wavefronts;
}

TEST(Wavefronts, TwoAndFourBytesAreOneGroup) {
  for (Access access : {Access::shared_load_4, Access::shared_store_4}) {
    EXPECT_EQ(wavefronts(access, [](int) { return 64; }), 1);                      // one word for all
    EXPECT_EQ(wavefronts(access, [](int lane) { return 4 * lane; }), 1);           // every bank once
    EXPECT_EQ(wavefronts(access, [](int lane) { return 8 * lane; }), 2);           // two words per bank
    EXPECT_EQ(wavefronts(access, [](int lane) { return 128 * lane; }), 32);        // one bank
    EXPECT_EQ(wavefronts(access, [](int lane) { return 132 * lane; }), 1);         // padded rows
    EXPECT_EQ(wavefronts(access, [](int lane) { return 128 * (lane / 2); }), 16);  // pairs share a word
    EXPECT_EQ(wavefronts(access, [](int lane) { return 4 * (lane ^ 5); }), 1);     // a permutation
    EXPECT_EQ(wavefronts(
                  access, [](int lane) { return 128 * lane; }, 0x0000000f),
              4);
  }
  for (Access access : {Access::shared_load_2, Access::shared_store_2}) {
    EXPECT_EQ(wavefronts(access, [](int lane) { return 2 * lane; }), 1);  // two lanes per word
    EXPECT_EQ(wavefronts(access, [](int lane) { return 128 * lane; }), 32);
    EXPECT_EQ(wavefronts(access, [](int lane) { return 130 * lane; }), 2);  // half a bank's step: banks come twice
  }
}

TEST(Wavefronts, EightBytesGoByHalfWarps) {
  for (Access access : {Access::shared_load_8, Access::shared_store_8}) {
    EXPECT_EQ(wavefronts(access, [](int lane) { return 8 * lane; }), 2);
    EXPECT_EQ(wavefronts(access, [](int lane) { return 128 * lane; }), 32);
    EXPECT_EQ(wavefronts(
                  access, [](int lane) { return 8 * lane; }, 0x0000ffff),
              1);
  }
  EXPECT_EQ(wavefronts(Access::shared_load_8, [](int) { return 8; }), 1);                    // all agree: one group
  EXPECT_EQ(wavefronts(Access::shared_store_8, [](int) { return 8; }), 2);                   // stores never join
  EXPECT_EQ(wavefronts(Access::shared_load_8, [](int lane) { return 8 * (lane / 2); }), 1);  // lane = lane^1
  EXPECT_EQ(wavefronts(Access::shared_load_8, [](int lane) { return 8 * (lane / 4 * 2 + lane % 2); }),
            1);                                                                              // lane = lane^2
  EXPECT_EQ(wavefronts(Access::shared_load_8, [](int lane) { return 8 * (lane % 4); }), 2);  // neither pairing agrees
}

TEST(Wavefronts, SixteenBytesGoByQuarters) {
  for (Access access : {Access::shared_load_16, Access::shared_store_16}) {
    EXPECT_EQ(wavefronts(access, [](int lane) { return 16 * lane; }), 4);
    EXPECT_EQ(wavefronts(access, [](int lane) { return 128 * lane; }), 32);
    EXPECT_EQ(wavefronts(
                  access, [](int lane) { return 16 * lane; }, 0x000000ff),
              1);
  }
  EXPECT_EQ(wavefronts(Access::shared_load_16, [](int) { return 16; }), 2);  // halves join, the warp does not
  EXPECT_EQ(wavefronts(Access::shared_store_16, [](int) { return 16; }), 4);
  EXPECT_EQ(wavefronts(Access::shared_load_16, [](int lane) { return 16 * (lane / 2); }), 2);
}

TEST(Wavefronts, ConflictsAreWhatIsAboveTheIdeal) {
  const auto row = pattern_of(Access::shared_load_4, [](int lane) { return 128 * lane; });
  EXPECT_EQ(row.wavefronts - row.ideal, 31);
  const auto vector = pattern_of(Access::shared_load_16, [](int lane) { return 16 * lane; });
  EXPECT_EQ(vector.wavefronts - vector.ideal, 0);
  const auto uniform = pattern_of(Access::shared_load_16, [](int) { return 0; });
  EXPECT_EQ(uniform.wavefronts - uniform.ideal, 0);
}

TEST(Sectors, AreThirtyTwoByteLines) {
  const auto sectors = [](Access access, const std::function<int32_t(int)>& address, uint32_t mask = kFull) {
    return pattern_of(access, address, mask).sectors;
  };
  EXPECT_EQ(sectors(Access::global_4, [](int lane) { return 4 * lane; }), 4);
  EXPECT_EQ(sectors(Access::global_4, [](int lane) { return 4 + 4 * lane; }), 5);  // not aligned to a sector
  EXPECT_EQ(sectors(Access::global_4, [](int) { return 40; }), 1);
  EXPECT_EQ(sectors(Access::global_2, [](int lane) { return 128 * lane; }), 32);
  EXPECT_EQ(sectors(Access::global_2, [](int lane) { return 2 * lane; }), 2);
  EXPECT_EQ(sectors(Access::global_16, [](int lane) { return 16 * lane; }), 16);
  EXPECT_EQ(sectors(
                Access::global_16, [](int lane) { return 16 * lane; }, 0x3),
            1);
}

TEST(Lines, DependOnTheSectorOfTheBase) {
  const auto row = pattern_of(Access::global_4, [](int lane) { return 4 * lane; });
  EXPECT_THAT(row.lines, ::testing::ElementsAre(1, 2, 2, 2));
  const auto back = pattern_of(Access::global_4, [](int lane) { return 124 - 4 * lane; });
  EXPECT_THAT(back.lines, ::testing::ElementsAre(2, 2, 2, 1));
  EXPECT_THAT(pattern_of(Access::global_4, [](int lane) { return 128 * lane; }).lines, ::testing::Each(32));
  EXPECT_THAT(pattern_of(Access::global_4, [](int) { return 40; }).lines, ::testing::Each(1));
  EXPECT_THAT(pattern_of(Access::global_16, [](int lane) { return 16 * lane; }).lines,
              ::testing::ElementsAre(4, 5, 5, 5));
}

TEST(Passes, AreTheWordsOfTheBusiestBankOrAQuarterOfTheLines) {
  const auto passes = [](Access access, auto&& at) { return int{pattern_of(access, at).passes[0]}; };
  // Rows of `split` lanes, `row` words apart.
  const auto rows = [&](int split, int row) {
    return passes(Access::global_4, [=](int lane) { return 4 * (lane % split + lane / split * row); });
  };
  EXPECT_EQ(rows(32, 0), 1);
  EXPECT_EQ(passes(Access::global_4, [](int lane) { return 4 + 4 * lane; }), 1) << "across two lines";
  EXPECT_EQ(passes(Access::global_4, [](int) { return 40; }), 1) << "one word for all lanes";
  EXPECT_EQ(rows(16, 1024), 2) << "the same banks";
  EXPECT_EQ(rows(16, 1024 + 16), 1) << "other banks";
  EXPECT_EQ(rows(16, 1024 + 14), 2) << "two banks are the same";
  EXPECT_EQ(rows(4, 1024 + 1), 4);
  EXPECT_EQ(rows(1, 1024), 32);
  EXPECT_EQ(rows(1, 1024 + 1), 8) << "32 lines in 32 banks";
  EXPECT_EQ(rows(2, 1024 + 2), 4) << "16 lines in 32 banks";
  EXPECT_EQ(passes(Access::global_16, [](int lane) { return 16 * lane; }), 4);
  EXPECT_EQ(passes(Access::global_8, [](int lane) { return 8 * lane; }), 2);
  EXPECT_EQ(passes(Access::global_2, [](int lane) { return 2 * lane; }), 1);
  EXPECT_EQ(passes(Access::global_2, [](int lane) { return 128 * (lane / 2) + 2 * (lane % 2); }), 16)
      << "halves of a word are one";
}

TEST(Passes, AreTheLeastThatAnH200Takes) {
  const std::filesystem::path tree = ATTNSCOPE_SOURCE_DIR;
  std::istringstream lines(testing_support::read_text(tree / "tests/data/gpu/h200_l1_passes.txt"));
  std::vector<double> beyond;  // measured clocks of a pass
  for (std::string line; std::getline(lines, line);) {
    int width = 0, split = 0, row = 0, offset = 0;
    double clocks = 0;
    if (!(std::istringstream(line) >> width >> split >> row >> offset >> clocks)) continue;
    const auto access = width == 1 ? Access::global_4 : width == 2 ? Access::global_8 : Access::global_16;
    // The base is in the first sector of a line, as `quarter` 0 has it; an offset of 16 words is two sectors further.
    const Pattern pattern =
        pattern_of(access, [&](int lane) { return 4 * (offset % 8 + lane % split * width + lane / split * row); });
    beyond.push_back(clocks / pattern.passes[offset / 8]);
    EXPECT_GT(beyond.back(), 0.98) << line;
    EXPECT_LT(beyond.back(), 2.1) << line;
  }
  ASSERT_EQ(beyond.size(), 324u);
  std::ranges::sort(beyond);
  EXPECT_LT(beyond[162], 1.01) << "the median";
  EXPECT_LT(beyond[292], 1.45) << "nine tenths";
}

TEST(Patterns, KnowTheirShape) {
  EXPECT_EQ(pattern_of(Access::shared_load_4, [](int) { return 4; }).kind, Kind::broadcast);
  EXPECT_EQ(pattern_of(Access::shared_load_4, [](int lane) { return 4 * lane; }).kind, Kind::contiguous);
  EXPECT_EQ(pattern_of(
                Access::shared_load_4, [](int lane) { return 4 * lane; }, 0xff)
                .kind,
            Kind::generic);
  EXPECT_FALSE(pattern_of(Access::shared_load_4, [](int lane) { return 6 * lane; }).aligned);
  const auto spread = pattern_of(Access::shared_load_4, [](int lane) { return 400 - 4 * lane; });
  EXPECT_EQ(spread.low, -124);
  EXPECT_EQ(spread.high, 0);
}

}  // namespace
}  // namespace attnscope::emulator
