#include "core/number_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace attnscope {
namespace {

TEST(NumberText, ALargeOneHasItsWholePart) {
  EXPECT_EQ(number_text(45846528), "45,846,528");
  EXPECT_EQ(number_text(17647.4), "17,647");
  EXPECT_EQ(number_text(-1228.6), "-1,229");
  EXPECT_EQ(number_text(1143, 3), "1,143");
  EXPECT_EQ(number_text(123.4, 2), "123");
}

TEST(NumberText, ASmallOneHasSoManyDigits) {
  EXPECT_EQ(number_text(12.3456), "12.35");
  EXPECT_EQ(number_text(0.40171), "0.4017");
  EXPECT_EQ(number_text(999.96), "1000");
  EXPECT_EQ(number_text(12.3456, 6), "12.3456");
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(1e20), "1e+20") << "more than a double holds exactly";
  EXPECT_EQ(number_text(std::numeric_limits<double>::quiet_NaN()), "nan");
}

}  // namespace
}  // namespace attnscope
