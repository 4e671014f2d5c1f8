#include "catalog/element_types.h"

#include <gtest/gtest.h>

namespace attnscope::catalog {
namespace {

TEST(ElementTypes, NamesOfNamespaceStdAreTheGlobalOnes) {
  ASSERT_TRUE(element_of("std::size_t"));
  EXPECT_EQ(element_of("std::size_t")->type, element_of("size_t")->type);
  EXPECT_EQ(element_of("std::uint8_t")->type, ElementType::u8);
  EXPECT_FALSE(element_of("std::string"));
  EXPECT_FALSE(element_of("std::"));
  EXPECT_FALSE(element_of("other::size_t"));
}

}  // namespace
}  // namespace attnscope::catalog
