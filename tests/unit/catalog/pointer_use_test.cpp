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

// What the memory begins with is then part of the result.
TEST(PointerUse, ALoadIsFirstOrIsNot) {
  for (const char* body :
       {"p[i] = p[i] * a + x[i];", "p[i] += x[i];", "p[i]++;", "y = p[i]; p[i] = 0;", "*p = *p + 1;",
        "float* row = p + i; row[0] = 2 * row[0];", "if (p[i] < 0) p[i] = 0;", "y = __ldg(p + i); p[i] = y;"})
    EXPECT_TRUE(use_of_p(body).loaded_first) << body;
  for (const char* body : {"p[i] = 0; p[i] += x[i];", "p[i] = x[i]; y = p[i + 1];", "atomicAdd(&p[i], x[i]);",
                           "atomicAdd(p + i, 1.f); y = p[i];", "f(p);", "float* row = p; row[i] = 0; row[i] += 1;"})
    EXPECT_FALSE(use_of_p(body).loaded_first) << body;
}

TEST(PointerUse, APointerThatMovesIsNotStoredTo) {
  for (const char* body : {"p += 4; y = *p;", "p = p + 4; y = *p;", "y = 3 * *p; p -= 1;"}) {
    EXPECT_FALSE(use_of_p(body).stored) << body;
    EXPECT_TRUE(use_of_p(body).read) << body;
  }
}

// The same use through a local name for an address in it.
TEST(PointerUse, ALocalNameOfAPointerIsFollowed) {
  for (const char* body : {"float* row = p + i * n; row[0] = 1;", "float* __restrict__ row = &p[i]; row[k] = x[0];",
                           "float4* row = reinterpret_cast<float4*>(p + 4 * i); row[0] = v;",
                           "float4* row = (float4*)p; *row = v;", "float* a = p; float* b = a + 1; b[0] = 1;",
                           "if (i) { float* a = p; a[0] = 1; } else { float* a = p + 1; a[0] = 2; }"}) {
    const PointerUse use = use_of_p(body);
    EXPECT_TRUE(use.stored) << body;
    EXPECT_FALSE(use.read || use.passed_on || use.scattered) << body;
  }
  for (const char* body :
       {"const float* row = p + i; y = row[2] * 3;", "const float *row = p; y += row[0] + row[1];"}) {
    EXPECT_TRUE(use_of_p(body).read) << body;
    EXPECT_FALSE(use_of_p(body).stored || use_of_p(body).passed_on) << body;
  }
}

TEST(PointerUse, AnUnclearNameIsNotFollowed) {
  const auto uses = pointer_uses("{ float* a = p; y = a[0]; } { float* a = q; a[0] = 1; }", {"p", "q"});
  EXPECT_TRUE(uses.at("p").passed_on && uses.at("q").passed_on);
  EXPECT_EQ(uses.size(), 2u);
  EXPECT_TRUE(use_of_p("float* a = i ? p : x; a[0] = 1;").passed_on);
  EXPECT_TRUE(use_of_p("float* a = p; a = x; a[0] = 1;").passed_on);
  EXPECT_TRUE(use_of_p("float* a = p; f(a);").passed_on);
  EXPECT_TRUE(use_of_p("float y = a * b; float* c = f(p); c[0] = 1;").passed_on);
}

TEST(PointerUse, ANameThatIsDeclaredTwiceKeepsTheUsesOfTheNamesFromIt) {
  const auto uses = pointer_uses(
      "if (n) { float* a = p; float* b = a + 1; b[0] = 1; } else { float* a = p; q[0] = a[0]; }", {"p", "q"});
  EXPECT_TRUE(uses.at("p").stored && uses.at("p").read);
  EXPECT_FALSE(uses.at("p").passed_on);
  EXPECT_EQ(uses.size(), 2u);
}

TEST(PointerUse, ANameWhoseAddressTheDataSaysIsScattered) {
  const auto uses = pointer_uses("float* row = p + index[i] * n; row[0] = 1;", {"p", "index"});
  EXPECT_TRUE(uses.at("p").passed_on);
}

}  // namespace
}  // namespace attnscope::catalog
