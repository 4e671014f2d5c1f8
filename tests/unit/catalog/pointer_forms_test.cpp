// Each way in which a body uses what a pointer leads to, and what that says of it.
#include <gtest/gtest.h>

#include "catalog/pointer_use.h"

namespace attnscope::catalog {
namespace {

// "r": read, "s": stored, "p": passed on, "x": data decides which elements are stored.
std::string uses_of(const char* body) {
  const PointerUse use = pointer_uses(body, {"p", "x"}).at("p");
  return std::string(use.read ? "r" : "") + (use.stored ? "s" : "") + (use.passed_on ? "p" : "") +
         (use.scattered ? "x" : "");
}

TEST(PointerForms, ValuesThatAreRead) {
  const char* const bodies[] = {"y = p[i];",
                                "y = mask & p[i];",
                                "y = n * p[i];",
                                "y = p[i] & p[j];",
                                "y = n & *p;",
                                "y = (n) & p[i];",
                                "y = a[0] & p[i];",
                                "y = 3 & p[i];",
                                "y = f(k) & p[i];",
                                "return *p;",
                                "if (j) y = *p; else y = p[1];",
                                "y = p[i].x;",
                                "if (p[i] == 1) y = 2;",
                                "if (p[i] <= 1) y = 2;",
                                "if (p[i] != 1) y = 2;",
                                "y = f(*p);",
                                "float v(p[i]);",
                                "int v = int(p[i]);",
                                "while (p[i]) y = 1;",
                                "for (int k = p[0]; k < p[1]; ++k) y = k;",
                                "auto first = p[0];",
                                "v = FLOAT4(p[i]);",
                                "v = reinterpret_cast<float4*>(&p[k])[0];",
                                "v = *reinterpret_cast<const float4*>(&p[k]);",
                                "v = *reinterpret_cast<const float4*>(p + k);",
                                "v = *(float4*)&p[k];",
                                "v = ((float4*)p)[k];",
                                "v = ((float4*)(p))[k];",
                                "y = __ldg(&p[i]);",
                                "y = __ldcs(p + i);",
                                "y = c ? 0 : p[i];",
                                "y = c ? p[i] : 0;",
                                "switch (j) { case 0: y = p[i]; }"};
  for (const char* body : bodies) EXPECT_EQ(uses_of(body), "r") << body;
}

TEST(PointerForms, ValuesThatAreStored) {
  const char* const bodies[] = {"p[i] = 1;",
                                "*p = 1;",
                                "p[i].x = 1;",
                                "p[i][j] = 1;",
                                "if (j) *p = 1;",
                                "if (j) y = 1; else *p = 1;",
                                "for (;;) *p = 1;",
                                "FLOAT4(p[i]) = v;",
                                "FLOAT4(p[i])[0] = v;",
                                "reinterpret_cast<float4*>(&p[k])[0] = v;",
                                "*reinterpret_cast<float4*>(p + k) = v;",
                                "*(float4*)&p[k] = v;",
                                "switch (j) { case 0: p[i] = 1; }",
                                "switch (j) { default: *p = 1; }",
                                "*(float4*)(&p[k]) = v;",
                                "((float4*)p)[k] = v;",
                                "((float4*)(p))[k] = v;"};
  for (const char* body : bodies) EXPECT_EQ(uses_of(body), "s") << body;
}

TEST(PointerForms, ValuesThatAreReadAndStored) {
  for (const char* body : {"p[i] += 1;", "p[i] -= 1;", "p[i] *= 2;", "p[i] /= 2;", "p[i] %= 2;", "p[i] &= 2;",
                           "p[i] |= 2;", "p[i] ^= 2;", "p[i]++;", "p[i]--;", "++p[i];", "--p[i];", "*p += 1;",
                           "atomicAdd(&p[i], 1);", "atomicAdd(p, 1);", "atomicMax(p + i, 1);"})
    EXPECT_EQ(uses_of(body), "rs") << body;
}

TEST(PointerForms, WhatIsPassedOn) {
  for (const char* body : {"f(p);", "f(&p[i]);", "f(*p);", "STORE(p[i], v);", "return &p[i];", "return p;",
                           "Thing all(*p);", "cuda::atomic_ref<int> all(*p);", "auto& first = p[0];", "y = f(p, 1);"})
    EXPECT_EQ(uses_of(body), "p") << body;
}

TEST(PointerForms, WhatUsesNothing) {
  for (const char* body : {"if (p == nullptr) return;", "if (p != nullptr) y = 1;", "if (p && j) y = 1;", "y = s.p;",
                           "s.p[0] = 1;", "s->p[0] = 1;", "N::p = 1;", "p += 4;", "p = p + 4;", "p++;", ""})
    EXPECT_EQ(uses_of(body), "") << body;
}

// The elements that are not stored keep what they held.
TEST(PointerForms, DataDecidesWhichElementsAreStored) {
  const char* const bodies[] = {"if (x[i] > 0) p[i] = 1;",
                                "if (x[i]) if (j) p[i] = 1;",
                                "if (j ? 1 : x[i]) p[i] = 1;",
                                "int k = j ? 0 : x[i]; p[k] = 1;",
                                "if (j) if (x[i]) p[i] = 1;",
                                "if (x[i]) { if (j) { y = 1; } p[i] = 1; }",
                                "if (x[i]) y = 1; else p[i] = 1;",
                                "if (x[i]) { y = 1; } else if (j) { p[i] = 1; } y = 2;",
                                "while (x[i] > 0) { p[i] = 1; }",
                                "for (int k = 0; k < x[i]; ++k) p[k] = 1;",
                                "switch (x[i]) { case 0: p[i] = 1; }",
                                "if (x[i]) return; p[i] = 1;",
                                "for (int k = 0; k < n; ++k) { if (x[k]) continue; p[k] = 1; }",
                                "p[x[i]] = 1;",
                                "int k = x[i]; p[k] = 1;",
                                "int k = x[i]; int m = k + 1; p[m] = 1;",
                                "p[m] = 1; m = x[i];",
                                "int m = 0; m += x[i]; p[m] = 1;",
                                "auto [a, b] = pair(x[i]); p[b] = 1;",
                                "int k(x[i]); p[k] = 1;",
                                "a = b = x[i]; p[a] = 1;",
                                "v.w = x[i]; p[v.w] = 1;",
                                "k[2] = x[i]; p[k[2]] = 1;"};
  for (const char* body : bodies) EXPECT_EQ(uses_of(body), "sx") << body;
}

TEST(PointerForms, BoundsDecideNothing) {
  const char* const bodies[] = {"if (i < n) p[i] = 1;",
                                "p[i] = x[i];",
                                "if (x[i] > 0) { y = 1; } p[i] = 1;",
                                "if (x[i]) y = 1; p[i] = 1;",
                                "if (x[i]) y = 1; else y = 2; p[i] = 1;",
                                "if (x[i]) for (int k = 0; k < 4; ++k) { y += k; } p[i] = 1;",
                                "if (x[i]) if (j) { y = 1; } p[i] = 1;",
                                "if (x[i]) while (j) { --j; } p[i] = 1;",
                                "if (x[i]) y = 1; else for (int k = 0; k < 4; ++k) { y += k; } p[i] = 1;",
                                "if (x[i]) { y = 1; } else if (j) { y = 2; } p[i] = 1;",
                                "for (int k = 0; k < n; ++k) { if (x[k]) break; y = 1; } p[i] = 1;",
                                "for (int k = 0; k < n; ++k) { if (j) continue; p[k] = 1; }",
                                "if (j) return; p[i] = 1;",
                                "if (x == nullptr) p[i] = 1;",
                                "if (x) p[i] = 1;",
                                "if (!x) p[i] = 1;",
                                "if (x && j) p[i] = 1;",
                                "if (s.x) p[i] = 1;",
                                "if (s->x) p[i] = 1;",
                                "if (s::x) p[i] = 1;",
                                "auto [a, b] = pair(i); p[b] = 1;",
                                "int k = i; p[k] = 1;"};
  for (const char* body : bodies) EXPECT_EQ(uses_of(body), "s") << body;
}

}  // namespace
}  // namespace attnscope::catalog
