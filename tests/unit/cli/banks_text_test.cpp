#include "cli/banks_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/cli/made_up_kernel.h"

namespace attnscope::cli {
namespace {

using testing::HasSubstr;

// A load of a column of 32 rows at line 7, inlined from a header, and a store at line 9.
Listing listing() {
  Listing made;
  made.files = {"made_up.cu", "header.cuh"};
  CodeLine load;
  load.text = "LDS R4, [R2]";
  load.places = {{1, 40}, {0, 7}};
  SharedAccess column{{}, 0xffffffff, 4, SharedUse::load};
  for (int lane = 0; lane < 32; ++lane) column.at[size_t(lane)] = 128 * lane;
  SharedAccess row = column;
  for (int lane = 0; lane < 32; ++lane) row.at[size_t(lane)] = 4 * lane;
  load.shared = {.shapes = {row, column}, .steps = {{0, 0, 0, 4096}, {1, 2, 1, 4096}}};
  CodeLine store = load;
  store.text = "STS [R2], R4";
  store.places = {{0, 9}};
  for (SharedAccess& shape : store.shared->shapes) shape.use = SharedUse::store;
  CodeLine other;
  other.places = {{0, 8}};
  made.lines = {load, other, store};
  made.places = {{"Q_tile", 0, 4096}, {"K_tile", 4096, 8192}};
  return made;
}

TEST(BanksText, ShowsTheLineAsItIsPaddedAndSwizzled) {
  const auto text = banks_text(listing(), made_up_kernel(), {.line = 7});
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_THAT(*text, HasSubstr("LDS R4, [R2]  load of 4 B a lane, rows of 128 B\n"));
  EXPECT_THAT(*text, HasSubstr("step 2 of 2: warp 1, its execution 3, from K_tile + 0 on\n"));
  EXPECT_THAT(*text, HasSubstr("32 wavefronts for 1 "));
  EXPECT_THAT(*text, HasSubstr("   31  #..............................."));
  EXPECT_THAT(*text, HasSubstr("words  +..............................."));
  EXPECT_THAT(*text, HasSubstr("4...4...4...4...4...4...4...4..."));
  EXPECT_THAT(*text, Not(HasSubstr("STS")));
  EXPECT_THAT(*text, HasSubstr("Q_tile           0 to 4,095: no recorded access\n"));
  EXPECT_THAT(*text,
              HasSubstr("K_tile           4,096 to 12,287: 64 rows of 128 B; every row begins in the same bank\n"));
}

TEST(BanksText, AStepMayBeChosen) {
  const auto text = banks_text(listing(), made_up_kernel(), {.line = 7, .step = 1});
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("step 1 of 2: warp 0, its execution 1"));
  EXPECT_THAT(*text, HasSubstr("1 wavefront for 1"));
}

// 16 bytes a lane are served eight lanes at a time, and a copy's wavefronts are no counted ones.
TEST(BanksText, WideAccessesAreShownPhaseByPhase) {
  Listing made = listing();
  SharedAccess& copy = made.lines[2].shared->shapes[1];
  copy.bytes = 16;
  copy.use = SharedUse::copy;
  const auto text = banks_text(made, made_up_kernel(), {.line = 9, .step = 2});
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("copy of 16 B a lane"));
  EXPECT_THAT(*text, HasSubstr("The hardware counts no wavefronts for copies"));
  EXPECT_THAT(*text, HasSubstr("       lanes 0 to 7: 8 wavefronts"));
  EXPECT_THAT(*text, HasSubstr("lanes 24 to 31: 8 wavefronts"));
  EXPECT_THAT(*text, HasSubstr("words  8888............................"));
}

TEST(BanksText, TheRowsLengthMayBeGiven) {
  const auto text = banks_text(listing(), made_up_kernel(), {.line = 9, .row = 256});
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("store of 4 B a lane, rows of 256 B\n"));
}

TEST(BanksText, ALineWithoutAnAccessNamesThoseWithOne) {
  const auto none = banks_text(listing(), made_up_kernel(), {.line = 8});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("made_up.cu:8 made no"));
  EXPECT_THAT(none.error().hint, HasSubstr("7, 9"));
  EXPECT_FALSE(banks_text(Listing{}, made_up_kernel(), {.line = 8}));
}

}  // namespace
}  // namespace attnscope::cli
