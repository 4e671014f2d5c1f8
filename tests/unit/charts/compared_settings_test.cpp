#include "charts/compared_settings.h"

#include <gtest/gtest.h>

namespace attnscope::charts {
namespace {

Kernel kernel_of(const std::string& id, std::vector<Knob> knobs) {
  Kernel kernel;
  kernel.id = id;
  kernel.knobs = std::move(knobs);
  return kernel;
}

TEST(ComparedSettings, SayWhichKnobDiffers) {
  const Kernel tiled = kernel_of("tiled", {{"NUM_WARPS", {{4, ""}, {8, ""}}, 4, ""},
                                           {"BLOCK_M", {{32, ""}}, 32, ""},
                                           {"SHARED", {{0, "static"}, {1, "dynamic"}}, 0, ""}});
  Experiment a;
  a.kernel = "tiled";
  a.config.knobs = {{"NUM_WARPS", 4}, {"BLOCK_M", 32}, {"SHARED", 0}};
  Experiment b = a;
  EXPECT_TRUE(compared_settings(a, b, &tiled, &tiled).empty());
  b.config.knobs["SHARED"] = 1;
  b.config.knobs["NUM_WARPS"] = 8;
  const auto rows = compared_settings(a, b, &tiled, &tiled);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "NUM_WARPS");
  EXPECT_EQ(rows[0].before, "4");
  EXPECT_EQ(rows[0].after, "8");
  EXPECT_EQ(rows[1].after, "dynamic");
  EXPECT_TRUE(rows[1].differs);
}

TEST(ComparedSettings, OfTwoKernelsAKnobThatOneLacksIsADash) {
  Experiment a, b;
  a.kernel = "tiled";
  a.config.knobs = {{"NUM_WARPS", 4}, {"VEC_WIDTH", 4}};
  b.kernel = "mma";
  b.config.knobs = {{"NUM_WARPS", 4}};
  b.problem.seq_q = b.problem.seq_k = 4096;
  b.config.options.maxrregcount = 64;
  const auto rows = compared_settings(a, b, nullptr, nullptr);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].name, "kernel");
  EXPECT_EQ(rows[1].name, "problem");
  EXPECT_EQ(rows[2].name, "VEC_WIDTH");
  EXPECT_EQ(rows[2].after, "\u2013");
  EXPECT_EQ(rows[3].before, "none");
}

}  // namespace
}  // namespace attnscope::charts
