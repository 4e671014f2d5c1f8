#include "core/text.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace attnscope {
namespace {

TEST(Text, ANumberIsTheWholeTextOrNone) {
  EXPECT_EQ(number_of<int64_t>("-12"), -12);
  EXPECT_EQ(number_of<uint64_t>("fF", 16), 255u);
  for (const char* text : {"", "-", "+1", " 1", "1 ", "1.5", "0x1", "12a"})
    EXPECT_FALSE(number_of<int64_t>(text)) << text;
}

TEST(Text, ANumberThatDoesNotFitIsNone) {
  EXPECT_EQ(number_of<int8_t>("127"), 127);
  EXPECT_FALSE(number_of<int8_t>("128"));
  EXPECT_FALSE(number_of<uint32_t>("-1"));
}

TEST(Text, TrimmedKeepsWhatIsInside) {
  EXPECT_EQ(trimmed(" \ta b\r"), "a b");
  EXPECT_EQ(trimmed("ab"), "ab");
  EXPECT_EQ(trimmed(" \t\r"), "");
  EXPECT_EQ(trimmed(""), "");
}

}  // namespace
}  // namespace attnscope
