#include "catalog/unset_constants.h"

#include <gtest/gtest.h>

namespace attnscope::catalog {
namespace {

TEST(UnsetConstants, AreAllNamesOfADeclarationWithoutAValue) {
  const auto found = unset_constants(
      "__constant__ __align__(16) float a[4], b[2][8];\n"
      "__constant__ int c[2] = {1, 2}, d;\n"
      "__constant__ alignas(8) int e = 3;\n"
      "extern __constant__ int d;\n"
      "__device__ int f;\n");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].name, "a");
  EXPECT_EQ(found[0].type, "float");
  EXPECT_EQ(found[0].extents, (std::vector<std::string>{"4"}));
  EXPECT_EQ(found[1].name, "b");
  EXPECT_EQ(found[1].type, "float");
  EXPECT_EQ(found[1].extents, (std::vector<std::string>{"2", "8"}));
  EXPECT_EQ(found[2].name, "d");
  EXPECT_EQ(found[2].type, "int");
  EXPECT_TRUE(found[2].extents.empty());
}

}  // namespace
}  // namespace attnscope::catalog
