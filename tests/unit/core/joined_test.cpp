#include "core/joined.h"

#include <gtest/gtest.h>

#include <vector>

namespace attnscope {
namespace {

struct Named {
  std::string name;
};

TEST(Joined, PutsTheSeparatorBetweenItems) {
  EXPECT_EQ(joined(std::vector<std::string>{}), "");
  EXPECT_EQ(joined(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(joined(std::vector<std::string>{"", "b", ""}), ", b, ");
  EXPECT_EQ(joined(std::vector<std::string_view>{"a", "b"}, {}, " "), "a b");
}

TEST(Joined, TakesAMemberOrAFunction) {
  const std::vector<Named> all{{"x"}, {"y"}};
  EXPECT_EQ(joined(all, &Named::name), "x, y");
  EXPECT_EQ(joined(all, [](const Named& one) { return one.name + "!"; }), "x!, y!");
}

}  // namespace
}  // namespace attnscope
