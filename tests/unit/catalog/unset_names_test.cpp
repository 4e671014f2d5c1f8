#include "catalog/unset_names.h"

#include <gtest/gtest.h>

namespace attnscope::catalog {
namespace {

TEST(UnsetNames, ALengthGetsTheHostsNumberOrAUsualOne) {
  EXPECT_EQ(number_of_unset("__global__ void k(float a[N][N]) {}\nint main() { int N = 10; }", "N"), "10");
  EXPECT_EQ(number_of_unset("__global__ void k(float a[3][N]) {}", "N"), "4");
  EXPECT_EQ(number_of_unset("__shared__ float tile[BLOCK_SIZE];", "BLOCK_SIZE"), "128");
  EXPECT_EQ(number_of_unset("#pragma unroll tuned_factor\nfor (;;) {}", "tuned_factor"), "4");
  EXPECT_EQ(number_of_unset("#pragma unroll(U)\nfor (;;) {}", "U"), "4");
}

TEST(UnsetNames, AnyOtherNameGetsNone) {
  EXPECT_FALSE(number_of_unset("int i = N; y = x[N]; return x[N]; f(x[N]);", "N"));
  EXPECT_FALSE(number_of_unset("if (i) i = 0; else x[N] = 1;", "N"));
  EXPECT_FALSE(number_of_unset("float a[N + 1];", "N"));
  EXPECT_FALSE(number_of_unset("#pragma once\nint i;", "once"));
  EXPECT_FALSE(number_of_unset("float a[FIXME];", "FIXME"));
  EXPECT_FALSE(number_of_unset("float a[N];", ""));
  EXPECT_FALSE(number_of_unset("[N][N]", "N"));
}

}  // namespace
}  // namespace attnscope::catalog
