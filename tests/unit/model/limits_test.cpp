#include "model/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/model/devices_for_tests.h"

namespace attnscope::model {
namespace {

using testing::HasSubstr;

VariantInfo variant(int64_t registers, int64_t static_shared, int64_t dynamic_shared) {
  VariantInfo v;
  v.registers = registers;
  v.static_shared_bytes = static_shared;
  v.dynamic_shared_bytes = dynamic_shared;
  return v;
}

Failure refused(const VariantInfo& v, const LaunchShape& launch, const DeviceSpec& spec = l4()) {
  const auto checked = check_limits(spec, v, launch, "tiled");
  EXPECT_FALSE(checked);
  if (checked) return {};
  EXPECT_EQ(checked.error().stage, Stage::limits);
  EXPECT_FALSE(checked.error().hint.empty());
  return checked.error();
}

const LaunchShape kPlain{{16, 8, 1}, {128, 1, 1}};

TEST(Limits, WhatFitsPasses) {
  EXPECT_TRUE(check_limits(l4(), variant(255, 49152, 0), kPlain, "tiled"));
  EXPECT_TRUE(check_limits(l4(), variant(64, 0, 101376), kPlain, "tiled"));
  EXPECT_TRUE(check_limits(l4(), variant(64, 0, 0), {{1, 1, 1}, {1024, 1, 1}}, "tiled"));
}

TEST(Limits, ACooperativeGridMustExistAtOnce) {
  // An SM holds 12 CTAs of 128 threads.
  LaunchShape shape{{58 * 12, 1, 1}, {128, 1, 1}, true};
  EXPECT_TRUE(check_limits(l4(), variant(32, 0, 0), shape, "heat"));
  shape.grid = {58, 13, 1};
  const Failure most = refused(variant(32, 0, 0), shape);
  EXPECT_THAT(most.message,
              HasSubstr("asks 754 CTAs in a cooperative launch, which exist at once; emulated:l4 holds 696"));
  EXPECT_THAT(most.hint, HasSubstr("Launch at most 696 CTAs"));
  EXPECT_THAT(refused(variant(32, 0, 60000), shape).message, HasSubstr("holds 58 (1 on each of 58 SMs)"));
  shape.cooperative = false;
  EXPECT_TRUE(check_limits(l4(), variant(32, 0, 0), shape, "heat"));
}

// The largest grid and block of each axis.
TEST(Limits, TheLargestShapesPassAndOneMoreDoesNot) {
  const LaunchShape one{{1, 1, 1}, {1, 1, 1}};
  const int64_t grid[] = {(int64_t{1} << 31) - 1, 65535, 65535}, block[] = {1024, 1024, 64};
  for (size_t axis = 0; axis < 3; ++axis) {
    LaunchShape shape = one;
    shape.grid[axis] = grid[axis];
    EXPECT_TRUE(check_limits(l4(), variant(32, 0, 0), shape, "tiled")) << "grid " << axis;
    ++shape.grid[axis];
    refused(variant(32, 0, 0), shape);
    shape = one;
    shape.block[axis] = block[axis];
    EXPECT_TRUE(check_limits(l4(), variant(32, 0, 0), shape, "tiled")) << "block " << axis;
    ++shape.block[axis];
    refused(variant(32, 0, 0), shape);
  }
  VariantInfo local = variant(32, 0, 0);
  local.stack_bytes = 524289;
  refused(local, one);
  refused(variant(32, 49153, 0), one);
}

// The refusal behind the reports' "Error Internal": 128x256x64 tiles in three stages.
TEST(Limits, CutlassDefaultTile) {
  EXPECT_EQ(refused(variant(200, 0, 147456), kPlain).message,
            "tiled: asks 147,456 B of shared memory; emulated:l4 gives 101,376 per CTA");
  EXPECT_TRUE(check_limits(h200(), variant(200, 0, 147456), kPlain, "tiled"));
}

TEST(Limits, StaticSharedNamesTheDynamicWayOut) {
  const Failure failure = refused(variant(40, 57376, 0), kPlain);
  EXPECT_EQ(failure.message, "tiled: asks 57,376 B of static shared memory; a kernel may declare 49,152");
  EXPECT_THAT(failure.hint, HasSubstr("Declare it dynamic"));
  EXPECT_THAT(failure.hint, HasSubstr("101,376"));
  EXPECT_EQ(failure, static_shared_failure(l4(), 57376, "tiled"));
  EXPECT_TRUE(check_limits(l4(), variant(40, 0, 57376), kPlain, "tiled"));
}

TEST(Limits, StaticAndDynamicAddUp) {
  EXPECT_THAT(refused(variant(40, 40000, 61377), kPlain).message, HasSubstr("101,377 B"));
}

// The user can change a size that is too large; only its author can change a manifest.
TEST(Limits, AGridThatIsTooLargeNamesWhatToChange) {
  const Failure failure = refused(variant(40, 0, 0), {{1, 1, 70'000}, {128, 1, 1}});
  EXPECT_EQ(failure.message, "tiled: asks a grid of 70,000 CTAs in z; 1 to 65,535 are possible");
  EXPECT_EQ(failure.hint, "Choose smaller sizes or larger tiles: the grid's z follows from them.");
}

TEST(Limits, LocalMemory) {
  VariantInfo v = variant(32, 0, 0);
  v.stack_bytes = 524288;
  EXPECT_TRUE(check_limits(l4(), v, kPlain, "tiled"));
  v.stack_bytes = 400'000'000;
  EXPECT_EQ(refused(v, kPlain).message, "tiled: asks 400,000,000 B of local memory per thread; 524,288 are possible");
}

TEST(Limits, ThreadsAndRegisters) {
  EXPECT_EQ(refused(variant(32, 0, 0), {{1, 1, 1}, {1024, 2, 1}}).message,
            "tiled: asks 2,048 threads per CTA; emulated:l4 allows 1,024");
  EXPECT_EQ(refused(variant(65, 0, 0), {{1, 1, 1}, {1024, 1, 1}}).message,
            "tiled: asks 65 registers per thread for 1,024 threads, 73,728 per CTA; emulated:l4 gives 65,536 per CTA");
}

TEST(Limits, GridAndBlockShapes) {
  EXPECT_THAT(refused(variant(32, 0, 0), {{1, 65536, 1}, {32, 1, 1}}).message, HasSubstr("65,536 CTAs in y"));
  EXPECT_THAT(refused(variant(32, 0, 0), {{0, 1, 1}, {32, 1, 1}}).message, HasSubstr("0 CTAs in x"));
  EXPECT_THAT(refused(variant(32, 0, 0), {{int64_t{1} << 31, 1, 1}, {32, 1, 1}}).message, HasSubstr("2,147,483,648"));
  EXPECT_THAT(refused(variant(32, 0, 0), {{1, 1, 1}, {1, 1, 65}}).message, HasSubstr("65 threads in z"));
  EXPECT_THAT(refused(variant(32, 0, 0), {{1, 1, 1}, {-5, 1, 1}}).message, HasSubstr("-5 threads in x"));
}

}  // namespace
}  // namespace attnscope::model
