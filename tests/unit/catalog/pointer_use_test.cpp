#include "catalog/pointer_use.h"

#include <gtest/gtest.h>

namespace attnscope::catalog {
namespace {

PointerUse use_of_p(const char* body) { return pointer_uses(body, {"p"}).at("p"); }

// If p were taken for an input, the kernel must not write it.
TEST(PointerUse, WhatIsAddedToIsReadAndStored) {
  for (const char* body : {"*p = *p + x[0];", "*p += x[0];", "{ *p = 2 * *p; }", "if (i == 0) *p *= 2;",
                           "*(volatile float*)p = *(volatile float*)p + x[0];", "*(volatile float*)p -= x[0];"}) {
    EXPECT_TRUE(use_of_p(body).read) << body;
    EXPECT_TRUE(use_of_p(body).stored) << body;
    EXPECT_FALSE(use_of_p(body).passed_on) << body;
  }
}

TEST(PointerUse, APointerThatMovesIsNotStoredTo) {
  for (const char* body : {"p += 4; y = *p;", "p = p + 4; y = *p;", "y = 3 * *p; p -= 1;"}) {
    EXPECT_FALSE(use_of_p(body).stored) << body;
    EXPECT_TRUE(use_of_p(body).read) << body;
  }
}

}  // namespace
}  // namespace attnscope::catalog
