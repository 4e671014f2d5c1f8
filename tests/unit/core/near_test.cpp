#include "core/near.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace {

TEST(Near, ANameWithATypingErrorIsMeant) {
  const std::vector<std::string> all{"minimal", "tiled", "wmma"};
  const std::string known = "Known: minimal, tiled, wmma.";
  for (const char* wanted : {"tilde", "tied", "TILED", "tileds", "tileddd"})
    EXPECT_EQ(names_to_choose(wanted, all), "Did you mean tiled? " + known) << wanted;
  for (const char* wanted : {"wma", "mma", "wmmax"})
    EXPECT_EQ(names_to_choose(wanted, all), "Did you mean wmma? " + known) << wanted;
  for (const char* wanted : {"", "mna", "tidle3x", "il", "cute"})
    EXPECT_EQ(names_to_choose(wanted, all), known) << wanted;
  EXPECT_EQ(names_to_choose("min", all), "Did you mean minimal? " + known) << "a part of it";
  EXPECT_EQ(names_to_choose("x", {}), "Known: none.");
}

TEST(Near, ThreeAreMeantAndFiftyKnownAtMost) {
  EXPECT_EQ(names_to_choose("a", {"b", "c", "d", "e"}), "Did you mean b, c, d, …? Known: b, c, d, e.");
  std::vector<std::string> many(50, "other");
  EXPECT_EQ(names_to_choose("x", many).find("…"), std::string::npos);
  many.emplace_back("last");
  const std::string told = names_to_choose("x", many);
  EXPECT_TRUE(told.ends_with("other, ….")) << told;
}

TEST(Near, ALongNameIsNoTypingError) {
  const std::string hundred(100, 'x');
  EXPECT_TRUE(names_to_choose(hundred, {hundred}).starts_with("Did you mean"));
  EXPECT_FALSE(names_to_choose(hundred + "x", {hundred}).starts_with("Did you mean"));
  EXPECT_FALSE(names_to_choose(hundred, {hundred + "x"}).starts_with("Did you mean"));
}

}  // namespace
}  // namespace attnscope
