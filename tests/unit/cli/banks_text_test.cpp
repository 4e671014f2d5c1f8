#include "cli/banks_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  load.access = SharedAccess{{}, 0xffffffff, 4, true};
  for (int lane = 0; lane < 32; ++lane) load.access->at[size_t(lane)] = 128 * lane;
  CodeLine store = load;
  store.text = "STS [R2], R4";
  store.places = {{0, 9}};
  store.access->load = false;
  CodeLine other;
  other.places = {{0, 8}};
  made.lines = {load, other, store};
  return made;
}

Kernel kernel() {
  Kernel made;
  made.id = "made_up";
  made.source_name = "made_up.cu";
  return made;
}

TEST(BanksText, ShowsTheLineAsItIsPaddedAndSwizzled) {
  const auto text = banks_text(listing(), kernel(), 7, 0);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_THAT(*text, HasSubstr("LDS R4, [R2]  load of 4 bytes a lane, rows of 128 bytes\n"));
  EXPECT_THAT(*text, HasSubstr("32 wavefronts for 1 "));
  EXPECT_THAT(*text, HasSubstr("   31  #..............................."));
  EXPECT_THAT(*text, HasSubstr("words  +..............................."));
  EXPECT_THAT(*text, HasSubstr("4...4...4...4...4...4...4...4..."));
  EXPECT_THAT(*text, Not(HasSubstr("STS")));
}

TEST(BanksText, TheRowsLengthMayBeGiven) {
  const auto text = banks_text(listing(), kernel(), 9, 256);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("store of 4 bytes a lane, rows of 256 bytes\n"));
}

TEST(BanksText, ALineWithoutAnAccessNamesThoseWithOne) {
  const auto none = banks_text(listing(), kernel(), 8, 0);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("made_up.cu:8 made no"));
  EXPECT_THAT(none.error().hint, HasSubstr("7, 9"));
  EXPECT_FALSE(banks_text(Listing{}, kernel(), 8, 0));
}

}  // namespace
}  // namespace attnscope::cli
