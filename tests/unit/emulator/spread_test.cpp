// Which CTAs represent a grid.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "emulator/emulator.h"

namespace attnscope::emulator {
namespace {

TEST(SpreadCtas, OneOfEachPartAndNotOneColumnOfTheGrid) {
  constexpr uint32_t width = 64, total = 64 * width;
  for (const uint32_t count : {16u, 64u, 128u}) {
    const std::vector<uint32_t> ctas = spread_ctas(total, count);
    ASSERT_EQ(ctas.size(), count);
    EXPECT_TRUE(std::is_sorted(ctas.begin(), ctas.end()));
    double mean = 0;
    std::set<uint32_t> quarters;
    for (uint32_t i = 0; i < count; ++i) {
      EXPECT_GE(ctas[i], i * total / count);
      EXPECT_LT(ctas[i], (i + 1) * total / count);
      mean += double(ctas[i] % width) / count;
      quarters.insert(ctas[i] % width / (width / 4));
    }
    // Under a causal mask a CTA's work grows with its column: the sample's mean must equal the grid's.
    EXPECT_NEAR(mean, (width - 1) / 2.0, 0.1 * width) << count;
    EXPECT_EQ(quarters.size(), 4u) << count;
  }
}

TEST(SpreadCtas, AllOfThemWhenAllAreAsked) {
  EXPECT_EQ(spread_ctas(5, 5), (std::vector<uint32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(spread_ctas(1, 1), (std::vector<uint32_t>{0}));
}

}  // namespace
}  // namespace attnscope::emulator
