#include "compile/needed_code.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace attnscope::compile {
namespace {

// Its non-blank lines, each after its number.
std::string left_of(const std::string& source, const std::string& entry) {
  const std::string out = only_needed(source, entry);
  EXPECT_EQ(out.size(), source.size());
  EXPECT_EQ(std::ranges::count(out, '\n'), std::ranges::count(source, '\n'));
  std::string left, line;
  int number = 1;
  for (const char c : out + "\n") {
    if (c != '\n') {
      line += c;
      continue;
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (!line.empty()) left += std::to_string(number) + " " + line + "\n";
    line.clear();
    ++number;
  }
  return left;
}

TEST(NeededCode, WhatTheKernelReachesStays) {
  const std::string source = R"(typedef unsigned Word;
using Other = int;
struct Pair { Word a, b; };
struct Unused { int host(); };
template <class T> class Compare { };
template <> class Compare<int> { };
__constant__ float kScale[4] = {1, 2, 3, 4}, kTail;
constexpr int kWidth = 8;
__device__ float helper(Pair p) { return kScale[p.a] * kWidth; }
constexpr int log_of(int x) { return no_such_builtin(x); }
namespace inner {
__device__ int deep() { return 1; }
__device__ int other() { return no_such_thing(); }
}
__global__ void __launch_bounds__(128) wanted(float* y) { y[0] = helper({}) + inner::deep(); }
__global__ void beside(float* y) { broken(y); }
)";
  EXPECT_EQ(left_of(source, "wanted"),
            "1 typedef unsigned Word;\n3 struct Pair { Word a, b; };\n"
            "7 __constant__ float kScale[4] = {1, 2, 3, 4}, kTail;\n8 constexpr int kWidth = 8;\n"
            "9 __device__ float helper(Pair p) { return kScale[p.a] * kWidth; }\n11 namespace inner {\n"
            "12 __device__ int deep() { return 1; }\n14 }\n"
            "15 __global__ void __launch_bounds__(128) wanted(float* y) { y[0] = helper({}) + inner::deep(); }\n");
}

TEST(NeededCode, ATemplateArgumentIsReached) {
  const std::string source =
      "struct Left {};\nstruct Right {};\ntemplate <class T> __global__ void k(T* p) {}\nusing Alias = Left;\n";
  EXPECT_EQ(left_of(source, "k<Alias>"),
            "1 struct Left {};\n3 template <class T> __global__ void k(T* p) {}\n4 using Alias = Left;\n");
}

TEST(NeededCode, MacrosReachWhatTheyName) {
  const std::string source =
      "__device__ int a() { return 1; }\n__device__ int b() { return 2; }\n#define A a()\n"
      "__global__ void k(int* p) { *p = A; }\n";
  EXPECT_EQ(left_of(source, "k"),
            "1 __device__ int a() { return 1; }\n3 #define A a()\n4 __global__ void k(int* p) { *p = A; }\n");
}

// A declaration without a single plain name stays, with everything that it names.
TEST(NeededCode, OperatorsAndInstantiationsStay) {
  const std::string source =
      "struct V { float x; };\n__device__ V operator+(V a, V b) { return {a.x + b.x}; }\n"
      "template <class T> __global__ void k(T* p) {}\ntemplate __global__ void k<V>(V* p);\n"
      "typedef void (*Function)(int);\n__global__ void other() {}\n";
  const std::string left = left_of(source, "k<float>");
  for (const char* kept : {"1 struct V", "2 __device__ V operator+", "3 template", "4 template"})
    EXPECT_NE(left.find(kept), std::string::npos) << left;
  for (const char* gone : {"Function", "other"}) EXPECT_EQ(left.find(gone), std::string::npos) << left;
}

TEST(NeededCode, AStructOfATypedefHasTwoNames) {
  const std::string source =
      "typedef struct Tag { int n; } Name;\n__global__ void a(Tag t) {}\n__global__ void b(Name t) {}\n"
      "__global__ void c() {}\n";
  for (const char* one : {"a", "b"}) EXPECT_NE(left_of(source, one).find("1 typedef"), std::string::npos) << one;
  EXPECT_EQ(left_of(source, "c"), "4 __global__ void c() {}\n");
}

TEST(NeededCode, AnyTextKeepsItsLength) {
  for (const std::string& text :
       {std::string(), std::string("}}}"), std::string("((("), std::string("struct"), std::string("typedef"),
        std::string("template<"), std::string("int a = {"), std::string("extern \"C\" {"), std::string("namespace"),
        std::string(100000, '{'), std::string("#define x\n") + std::string(1000, ')')})
    EXPECT_EQ(only_needed(text, "k").size(), text.size()) << text.substr(0, 20);
}

// The = of a template's default assigns nothing, so the function ends with its body.
TEST(NeededCode, ATemplatesDefaultDoesNotTakeTheNextFunction) {
  const std::string text =
      "template <class T, class Op = int> __device__ void f(T a) {}\n__global__ void k() {}\n__global__ void other() "
      "{}";
  EXPECT_NE(only_needed(text, "k").find("void k"), std::string::npos);
  EXPECT_EQ(only_needed(text, "k").find("void f"), std::string::npos);
}

}  // namespace
}  // namespace attnscope::compile
