// What a source's preprocessor lines say: the macros that are defined and needed, and the files that are included.
#include "catalog/source_macros.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscope::catalog {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

// Reads lines as they come; what they leave is in `source`.
struct Lines {
  CudaSource source;
  SourceMacros macros{source};
  void read(std::initializer_list<std::string_view> lines) {
    for (const std::string_view line : lines) macros.read(line, false);
  }
};

TEST(SourceMacros, AKernelNeedsTheMacrosOfTheOpenConditions) {
  Lines of;
  EXPECT_THAT(of.macros.needed(), ElementsAre());
  of.read({"ifdef A", "if defined(B)", "if defined C"});
  EXPECT_THAT(of.macros.needed(), ElementsAre("A", "B", "C"));
  of.read({"ifndef D", "if E", "if defined(F) && G", "if defined F || G"});
  EXPECT_THAT(of.macros.needed(), ElementsAre("A", "B", "C")) << "other conditions say nothing";
  of.read({"ifdef H"});
  EXPECT_THAT(of.macros.needed(), ElementsAre("A", "B", "C", "H"));
  of.read({"endif", "endif", "endif", "endif", "endif"});
  EXPECT_THAT(of.macros.needed(), ElementsAre("A", "B", "C"));
  of.read({"else"});
  EXPECT_THAT(of.macros.needed(), ElementsAre("A", "B")) << "its other branch does not need it";
  of.read({"endif", "elif X"});
  EXPECT_THAT(of.macros.needed(), ElementsAre("A"));
  of.read({"endif", "endif", "endif", "else"});
  EXPECT_THAT(of.macros.needed(), ElementsAre()) << "nor does an end too many";
}

TEST(SourceMacros, OnlyTheFirstEightConditionsCount) {
  Lines of;
  for (const char* line : {"ifdef A", "ifdef B", "ifdef C", "ifdef D", "ifdef E", "ifdef F", "ifdef G", "ifdef H"})
    of.macros.read(line, false);
  EXPECT_EQ(of.macros.needed().size(), 8u);
  of.read({"ifdef I"});
  EXPECT_EQ(of.macros.needed().size(), 8u);
}

TEST(SourceMacros, IncludesAreNamedAsTheyAreWritten) {
  Lines of;
  of.read({"include <cuda_fp16.h>", "include \"my/own.cuh\"", "include", "include  <vector> // for x"});
  EXPECT_THAT(of.source.included, UnorderedElementsAre("cuda_fp16.h", "my/own.cuh", "vector"));
}

TEST(SourceMacros, TheLastOfSeveralValuesCountsAndIsUnsure) {
  Lines of;
  of.read({"define A 1", "define B 1 + 2", "define C", "define D(x) x", "define E 1", "define E 1"});
  EXPECT_THAT(of.source.macros, UnorderedElementsAre(Pair("A", "1"), Pair("B", "1+2"), Pair("E", "1")));
  EXPECT_THAT(of.source.parameter_names, ElementsAre("x"));
  EXPECT_THAT(of.source.unsure_macros, ElementsAre());
  of.read({"define A 2"});
  EXPECT_EQ(of.source.macros.at("A"), "2");
  EXPECT_THAT(of.source.unsure_macros, ElementsAre("A"));
  of.read({"define A 2"});
  EXPECT_THAT(of.source.unsure_macros, ElementsAre("A")) << "it stays so";
}

TEST(SourceMacros, ADefinitionThatIsNotCompiledServesWhereThereIsNoOther) {
  Lines of;
  of.read(
      {"if 0", "define A 1", "define B 1", "endif", "define B 2", "define C 3", "ifdef NONE", "define C 4", "endif"});
  EXPECT_EQ(of.source.macros.at("A"), "1");
  EXPECT_EQ(of.source.macros.at("B"), "2");
  EXPECT_EQ(of.source.macros.at("C"), "3") << "one that is not compiled replaces none";
  EXPECT_THAT(of.source.unsure_macros, ElementsAre("A")) << "B has a compiled one";
}

TEST(SourceMacros, ANumberBehindItsOwnIfndefCanBeSet) {
  Lines of;
  of.read({"ifndef ROWS", "define ROWS 32", "endif", "ifndef COLS", "define OTHER 4", "endif", "define FREE 5",
           "ifndef WORD", "define WORD many", "endif"});
  EXPECT_THAT(of.source.settable, ElementsAre(Pair("ROWS", 32)));
  EXPECT_EQ(of.macros.guarded(), "WORD");
}

TEST(SourceMacros, AMacroThatLaunchesIsTold) {
  Lines of;
  const std::string line = "define GO(n) kernel<<<n, 32>>>(x)";
  const auto found = of.macros.read(line, false);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "GO");
  EXPECT_EQ(found->text, "(n) kernel<<<n, 32>>>(x)");
  for (const char* other : {"define SHIFT a << b", "define A a < b < c", "define B", "if a <<< b", "define", ""})
    EXPECT_FALSE(of.macros.read(other, false)) << other;
}

}  // namespace
}  // namespace attnscope::catalog
