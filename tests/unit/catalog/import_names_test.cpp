// What is called read: a name has one value where the kernel is launched, or the fact is a guess.
#include <gmock/gmock.h>

#include "catalog/import.h"
#include "unit/catalog/support.h"

namespace attnscope::catalog {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kTiled =
    "template <int B> __global__ void k(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = B; }\n";
const std::string kPlain = "__global__ void k(float* x, int n, float a) { if (threadIdx.x < n) x[threadIdx.x] = a; }\n";

Imported imported(const std::string& source, int guess = -1) {
  auto found = import_kernel("k.cu", source, "k", "", "", "", guess);
  if (!found) ADD_FAILURE() << found.error().message << "\n" << source;
  return found.value_or(Imported{});
}

TEST(ImportNames, ALauncherThatIsCalledWithoutItsTemplatesArgumentHasTheDefault) {
  const std::string launcher =
      "template <int B = 256> void run(float* x, int n) { k<B><<<(n + B - 1) / B, B>>>(x, n); }\n";
  const Imported left_out = imported(kTiled + launcher + "int main() { run(0, 1000); }\n");
  EXPECT_EQ(left_out.entry, "k<256>");
  EXPECT_THAT(left_out.read, Contains("the block: 256 x 1 x 1 threads"));
  const Imported said = imported(kTiled + launcher + "int main() { run<64>(0, 1000); }\n");
  EXPECT_EQ(said.entry, "k<64>");
  EXPECT_THAT(said.read, Contains("the block: 64 x 1 x 1 threads"));
}

TEST(ImportNames, ADefaultThatTheArgumentsMaySayIsNone) {
  const Imported deduced =
      imported(kTiled +
                   "template <int B = 256> void run(Array<B> x, int n) { k<B><<<n, B>>>(x.data(), n); }\n"
                   "int main() { run(Array<32>(), 1000); }\n",
               0);
  EXPECT_THAT(deduced.read, Not(Contains(StartsWith("the block"))));
}

TEST(ImportNames, WhatFollowsFromAGuessedTemplatesNumberIsAGuess) {
  const Imported guessed =
      imported(kTiled + "template <int B> void run(float* x, int n) { k<B><<<n / B, B>>>(x, n); }\n", 0);
  EXPECT_THAT(guessed.guessed, Contains(HasSubstr("since its launch says <B>")));
  EXPECT_THAT(guessed.read, Not(Contains(StartsWith("the block"))));
  EXPECT_THAT(guessed.read, Not(Contains(StartsWith("the grid"))));
  EXPECT_THAT(guessed.guessed, Contains(StartsWith("the block: ")));
}

TEST(ImportNames, TheHostCodeMayHaveSomethingElseByATemplateParametersName) {
  const Imported constant = imported(
      kTiled + "int main() { const int B = 256, n = 1000; float* x; k<128><<<(n + B - 1) / B, B>>>(x, n); }\n");
  EXPECT_EQ(constant.entry, "k<128>");
  EXPECT_THAT(constant.read, Contains("the block: 256 x 1 x 1 threads"));
  const Imported half = imported(kTiled +
                                 "template <int B> void run(float* x, int n) { k<B / 2><<<n / B, B>>>(x, n); }\n"
                                 "int main() { run<256>(0, 1024); }\n");
  EXPECT_EQ(half.entry, "k<128>");
  EXPECT_THAT(half.read, Contains("the block: 256 x 1 x 1 threads"));
  // A person's choice counts where the launch hands the same name on.
  auto chosen =
      import_kernel("k.cu", kTiled + "int main() { const int B = 256; float* x; k<B><<<4, B>>>(x, 1000); }\n", "k<64>");
  ASSERT_TRUE(chosen);
  EXPECT_THAT(chosen->read, Contains("the block: 64 x 1 x 1 threads"));
}

TEST(ImportNames, AnOverloadWithoutATemplateTakesNoArgumentsOfTheOthers) {
  const Imported plain = imported(kPlain +
                                  "void run(float* x, int n) { k<<<4, threads>>>(x, n, 1); }\n"
                                  "template <int N> void run(float* x) { run(x, N); }\nint main() { run<64>(0); }\n");
  EXPECT_THAT(plain.read, Not(Contains(StartsWith("the block"))));
}

TEST(ImportNames, AParametersDefaultIsNotWhatEveryCallerSays) {
  const Imported open =
      imported(kPlain + "void run(float* x, int n, float a = 3, int t = 64) { k<<<n, t>>>(x, n, a); }\n");
  EXPECT_THAT(open.guessed, Contains("a is passed as 3, as elsewhere in the host code"));
  EXPECT_THAT(open.read, Not(Contains(StartsWith("the block"))));
  const Imported other =
      imported(kPlain + "void show(int n = 5, int m = 6);\nvoid run(float* x, int n) { k<<<1, 32>>>(x, n, 1); }\n");
  EXPECT_THAT(other.read, Not(Contains(StartsWith("n is"))));
  const Imported in_a_template = imported(
      kPlain + "template <int T = 64, int U = 2> struct S {};\nvoid run(float* x, int n) { k<<<n, T>>>(x, n, 1); }\n");
  EXPECT_THAT(in_a_template.read, Not(Contains(StartsWith("the block"))));
}

TEST(ImportNames, AConstantOfTheParametersNameInCapitalsIsAGuess) {
  const Imported capitals =
      imported("#define N 512\n" + kPlain + "void run(float* x, int n) { k<<<1, 32>>>(x, n, 1); }\n");
  EXPECT_THAT(capitals.guessed, Contains("the size n = 512, as elsewhere in the host code"));
  const Imported passed = imported("#define N 512\n" + kPlain + "void run(float* x) { k<<<1, 32>>>(x, N, 1); }\n");
  EXPECT_THAT(passed.read, Contains("n is 512 in the host code"));
}

TEST(ImportNames, ASizeThatFollowsFromAGuessIsAGuess) {
  const std::string two = "__global__ void k(float* x, int n, int m) { if (threadIdx.x < n) x[threadIdx.x] = m; }\n";
  const Imported sure = imported(two + "void run(float* x, int n) { int m = n / 2; k<<<1, 32>>>(x, n, m); }\n");
  EXPECT_THAT(sure.read, Contains("m is n / 2"));
  const Imported changed =
      imported(two + "void run(float* x, int n) { int m = n / 2; if (n > 4) m += n; k<<<1, 32>>>(x, n, m); }\n");
  EXPECT_THAT(changed.read, Not(Contains(StartsWith("m is"))));
}

// A header with a size for each data set; only one of them is compiled.
TEST(ImportNames, AMacroHasTheValueThatIsCompiled) {
  const std::string sets =
      "# if !defined(MINI) && !defined(LARGE)\n#  define STANDARD\n# endif\n# if !defined(N)\n#  ifdef MINI\n#define N "
      "32\n#  endif\n#  ifdef STANDARD /* default */\n#define N 64\n#  endif\n#  ifdef LARGE\n#define N 128\n#  "
      "endif\n# "
      "endif\n";
  const std::string launch = kPlain + "int main() { float* x; k<<<1, N>>>(x, 1000, 1); }\n";
  EXPECT_THAT(imported(sets + launch).read, Contains("the block: 64 x 1 x 1 threads"));
  EXPECT_THAT(imported("#define LARGE\n" + sets + launch).read, Contains("the block: 128 x 1 x 1 threads"));
  EXPECT_THAT(imported("#ifdef __CUDACC__\n#define N 96\n#else\n#define N 1\n#endif\n" + launch).read,
              Contains("the block: 96 x 1 x 1 threads"));
  for (const char* unsure : {"#define N 32\n#undef N\n#define N 64\n", "#ifdef BIG\n#define N 64\n#endif\n"}) {
    const Imported twice = imported(unsure + launch);
    EXPECT_THAT(twice.guessed, Contains(StartsWith("the block: 64 x 1 x 1 threads"))) << unsure;
    EXPECT_THAT(twice.read, Not(Contains(StartsWith("the block")))) << unsure;
  }
}

// Ways of giving a name another value that are no statement of their own.
TEST(ImportNames, AValueThatMayHaveChangedIsAGuess) {
  const std::string begin = kPlain + "int main(int argc, char** v) { int t = 64, n = 1000; float* x;\n";
  const std::string end = "\nk<<<4, t>>>(x, n, 1); }\n";
  EXPECT_THAT(imported(begin + end).read, Contains("the block: 64 x 1 x 1 threads"));
  for (const std::string change :
       {"switch (argc) { case 2: t = stoi(v[1]); break; }", "n = t = argc;", "if ((t = argc) > 2) n = 4;",
        "#ifdef BIG\n#else\nt = 32 * argc;\n#endif", "if (pick(1)) { t = pick({32, 64}); }",
        "t = std::max({argc, 32});", "if (argc > 1) { t = pick({32, 64}); return 1; }"})
    EXPECT_THAT(imported(begin + change + end).read, Not(Contains(StartsWith("the block")))) << change;
}

// Of a branch on argc the one counts that a run without arguments takes.
TEST(ImportNames, ABranchOnArgcIsThatOfNoArguments) {
  const std::string begin = kPlain + "int main(int argc, char** v) { int t = 64, n = 1000; float* x;\n";
  const std::string end = "\nk<<<4, t>>>(x, n, 1); }\n";
  const auto block = [&](const std::string& change) {
    const Imported one = imported(begin + change + end);
    EXPECT_THAT(one.read, Contains(StartsWith("the block"))) << change;
    return (*parse_json(one.manifest, "k.json"))["launch"]["block"][0].get<std::string>();
  };
  EXPECT_EQ(block("if (argc > 1) t = atoi(v[1]);"), "64");
  EXPECT_EQ(block("if (argc > 1) { t = atoi(v[1]); if (argc > 2) { n = atoi(v[2]); } }"), "64");
  EXPECT_EQ(block("if (argc == 1) t = 96; else t = atoi(v[1]);"), "96");
  EXPECT_EQ(block("if (argc == 1) { t = 96; } else { t = atoi(v[1]); }"), "96");
  EXPECT_EQ(block("if (2 <= argc)\n  t = atoi(v[1]);\nelse if (argc != 1)\n  t = 32;\nelse\n  t = 128;"), "128");
}

// A launch may have fewer threads than its bound.
TEST(ImportNames, ALaunchBoundIsAGuessOfTheBlock) {
  const Imported bound = imported("__global__ void __launch_bounds__(96) k(float* x) { x[0] = 1; }\n");
  EXPECT_THAT(bound.guessed, Contains("the block: 96 threads, as many as __launch_bounds__ allows"));
  EXPECT_THAT(bound.read, Not(Contains(StartsWith("the block"))));
}

}  // namespace
}  // namespace attnscope::catalog
