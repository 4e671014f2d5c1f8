// Members of a struct, a parameter and an enumeration, as a source writes them.
#include "catalog/source_members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace attnscope::catalog {
namespace {

using testing::ElementsAre;

std::string text_of(const SourceParameter& one) {
  return (one.constant ? "const " : "") + one.type + (one.pointer ? " *" : "") + " " + one.name +
         (one.given ? " given" : "");
}

SourceParameter parameter(const std::string& text) {
  const auto tokens = cpp_tokens(text);
  return parameter_of(tokens, CppBrackets(tokens), 0, tokens.size());
}

TEST(Parameter, HasATypeANameAndWhetherItPoints) {
  const std::pair<const char*, const char*> cases[] = {{"float x", "float x"},
                                                       {"const float* __restrict__ x", "const float * x"},
                                                       {"float* const x", "float * x"},
                                                       {"const float x", "const float x"},
                                                       {"unsigned int n", "unsigned int n"},
                                                       {"struct Rows r", "Rows r"},
                                                       {"std::size_t n", "std::size_t n"},
                                                       {"Vec<float, 4> v", "Vec<float,4> v"},
                                                       {"float x[16]", "float * x"},
                                                       {"float (*x)[16]", "float * x"},
                                                       {"float** x", "float* * x"},
                                                       {"float* x[16]", "float* * x"},
                                                       {"int n = 4", "int n"},
                                                       {"float", "float "},
                                                       {"volatile int* flag", "int * flag"}};
  for (const auto& [source, read] : cases) EXPECT_EQ(text_of(parameter(source)), read) << source;
}

// The members as texts; "none" where the struct is not read.
std::vector<std::string> members(const std::string& body) {
  const std::string text = "{" + body + "}";
  const auto tokens = cpp_tokens(text);
  const auto read = members_at(tokens, CppBrackets(tokens), 0);
  if (!read) return {"none"};
  std::vector<std::string> texts;
  for (const SourceParameter& one : *read) texts.push_back(text_of(one));
  return texts;
}

TEST(Members, AreReadInTheirOrder) {
  EXPECT_THAT(members("float x, y; int n;"), ElementsAre("float x", "float y", "int n"));
  EXPECT_THAT(members(""), ElementsAre());
  EXPECT_THAT(members("public: const float* in; private: float* out;"), ElementsAre("const float * in", "float * out"));
  EXPECT_THAT(members("int n = 4, m{5}; float scale{};"),
              ElementsAre("int n given", "int m given", "float scale given"));
  EXPECT_THAT(members("float q[2]; int n;"), ElementsAre("float q[0]", "float q[1]", "int n"));
  EXPECT_THAT(members("float q[2][2];"), ElementsAre("float q[0]", "float q[1]", "float q[2]", "float q[3]"));
}

TEST(Members, WhatTakesNoPlaceIsPassedOver) {
  EXPECT_THAT(members("static constexpr int kN = 4; int n;"), ElementsAre("int n"));
  EXPECT_THAT(members("using T = float; typedef int I; int n;"), ElementsAre("int n"));
  EXPECT_THAT(members("static_assert(sizeof(int) == 4, \"x\"); int n;"), ElementsAre("int n"));
  EXPECT_THAT(members("int get() const { return n; } int n;"), ElementsAre("int n"));
  EXPECT_THAT(members("__device__ float at(int i); int n;"), ElementsAre("int n"));
  EXPECT_THAT(members("template <class T> T as() { return T(n); } int n;"), ElementsAre("int n"));
  EXPECT_THAT(members("S(int a, int b) : n{a}, m(b) { n = 1; } int n, m;"), ElementsAre("int n", "int m"));
}

TEST(Members, WhatIsLaidOutInAnotherWayIsRefused) {
  for (const char* body : {"int n : 3;", "int& n;", "virtual int f(); int n;", "struct { int a; } s;", "int (*f)(int);",
                           "alignas(16) float x;", "float q[N];", "float* q[2];", "float q[0];"})
    EXPECT_THAT(members(body), ElementsAre("none")) << body;
  EXPECT_EQ(members("float q[256];").size(), 256u);
  EXPECT_THAT(members("float q[257];"), ElementsAre("none"));
  EXPECT_THAT(members("float q[16][17];"), ElementsAre("none"));
  EXPECT_EQ(members("float q[255]; int n;").size(), 256u);
  EXPECT_THAT(members("float q[256]; int n;"), ElementsAre("none"));
}

// "type: name=value name=value"; "none" where there is no enumeration.
std::string enumeration(const std::string& source) {
  const auto tokens = cpp_tokens(source);
  const auto read = enumeration_at(tokens, CppBrackets(tokens), 0);
  if (!read) return "none";
  std::string text = read->type + ":";
  for (const Enumerator& one : read->values) {
    EXPECT_EQ(source.substr(one.at, one.name.size()), one.name);
    text += " " + one.name + "=" + one.value;
  }
  return text;
}

TEST(Enumeration, CountsFromTheLastValueThatIsWritten) {
  EXPECT_EQ(enumeration("Mode { off, on, both };"), "int: off=0 on=1 both=2");
  EXPECT_EQ(enumeration("Mode { off = 3, on, both = 7, all, };"), "int: off=3 on=(3) + 1 both=7 all=(7) + 1");
  EXPECT_EQ(enumeration("Mode : uint8_t { off, on = N + 1, more };"), "uint8_t: off=0 on=N+1 more=(N+1) + 1");
  EXPECT_EQ(enumeration("Mode : unsigned char { off };"), "unsigned char: off=0");
  EXPECT_EQ(enumeration("Mode {};"), "int:");
}

TEST(Enumeration, ADeclarationSaysATypeOrNothing) {
  EXPECT_EQ(enumeration("Mode : short; int x;"), "short:");
  EXPECT_EQ(enumeration("Mode; int x;"), "none");
  EXPECT_EQ(enumeration("Mode x;"), "none");
  EXPECT_EQ(enumeration("Mode"), "none");
}

TEST(Enumeration, AThousandTokensAreRead) {
  const auto of = [](size_t count) {
    std::string text = "Mode {a0";
    for (size_t i = 1; i < count; ++i) text += ",a" + std::to_string(i);
    return enumeration(text + "}");
  };
  EXPECT_NE(of(500), "none");  // 999 tokens between the braces
  EXPECT_EQ(of(501), "none");
}

}  // namespace
}  // namespace attnscope::catalog
