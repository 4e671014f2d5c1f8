// What the host code tells import only where one reads it as a compiler does: text that the preprocessor leaves out,
// launches of the device, values in braces and of functions, types that a launch hands over.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "unit/catalog/read_kernel.h"

namespace attnscope::catalog {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Read read_in(const std::string& source) { return read_kernel(source, "k"); }

const std::string kPlain = "__global__ void k(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 1; }\n";
const std::string kTemplate =
    "template <typename T> __global__ void k(T* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = T(1); }\n";

TEST(ImportTold, ALaunchHasTheBranchThatTheFilesOwnDefineKeeps) {
  const std::string host =
      "void run(float* x, int n) {\n#if defined(WIDE)\n  dim3 grid((n + 63) / 64);\n#else\n  dim3 grid((n + 15) / "
      "16);\n"
      "#endif\n  k<<<grid, 16>>>(x, n); }\n";
  EXPECT_EQ(read_in("#define WIDE\n" + kPlain + host).json["launch"]["grid"][0], "ceil_div(n, 64)");
  EXPECT_EQ(read_in("#define WIDE\n#undef WIDE\n" + kPlain + host).json["launch"]["grid"][0], "ceil_div(n, 16)");
}

TEST(ImportTold, TextThatIsNeverCompiledSaysNothing) {
  for (const char* const condition : {"#define OLD 0\n#if OLD\n", "#if 0  // old\n", "#if 0\n"}) {
    const Read read =
        read_in(kPlain + condition + "#define AGAIN(x) k<<<5, 16>>>(x, 3)\n" +
                "void old(float* x) { k<<<2, 64>>>(x, 7); }\n#endif\n" + "void run(float* x) { k<<<3, 32>>>(x, 9); }");
    EXPECT_EQ(read.json["launch"]["grid"][0], "3") << condition;
    EXPECT_EQ(read.json["sizes"]["n"], 9) << condition;
  }
}

TEST(ImportTold, AnIncludeGuardIsNoKnob) {
  const std::string header = "#ifndef K_CU\n#define K_CU 1\n#ifndef TILE\n#define TILE 32\n#endif\n";
  const Json knobs = read_in(header + kPlain + "#endif\n").json["knobs"];
  ASSERT_EQ(knobs.size(), 1u);
  EXPECT_EQ(knobs[0]["name"], "TILE");
  EXPECT_EQ(read_in("#ifndef K_CU\n#define K_CU 1\n#include <cstdio>\n#endif\n" + kPlain).json["knobs"].size(), 0u);
  EXPECT_EQ(read_in("#ifndef TILE\n#define TILE 32\n#endif\n" + kPlain).json["knobs"].size(), 1u);
  EXPECT_EQ(
      read_in("#ifndef TILE\n#define TILE 32\n#else\nstatic_assert(TILE > 8);\n#endif\n" + kPlain).json["knobs"].size(),
      1u);
}

TEST(ImportTold, ALaunchByTheDeviceIsNotTheHosts) {
  const std::string kernel =
      "__global__ void k(float* x, int n) { int half = max(n / 2, 32); x[threadIdx.x] = 1;\n"
      "  if (n > 32) k<<<2, half>>>(x, half); }\n";
  const Read read = read_in(kernel + "int main() { float* x; int n = 512; k<<<1, n>>>(x, n); }");
  EXPECT_EQ(read.json["sizes"]["n"], 512);
  EXPECT_EQ(read.json["launch"]["grid"][0], "1");
  EXPECT_THAT(read_in(kernel).imported.guessed, Contains(StartsWith("the block: ")));
  // The kernel that is imported is one that the host launches, wherever in the file it stands.
  std::string declared;
  for (int i = 0; i < 400; ++i) declared += fmt::format("int f{}();\n", i);
  for (const std::string& before : {std::string(), declared}) {
    const auto chosen =
        import_kernel("k.cu",
                      before +
                          "__global__ void child(float* x, int n) { x[threadIdx.x] = n; }\n"
                          "__global__ void parent(float* x, int n) { x[0] = 1; child<<<2, 64>>>(x, n); }\n"
                          "__device__ void again(float* x) { child<<<4, 64>>>(x, 8); }\n"
                          "int main() { float* x; parent<<<1, 1>>>(x, 512); }",
                      "");
    ASSERT_TRUE(chosen) << chosen.error().message;
    EXPECT_EQ(chosen->entry, "parent");
  }
  EXPECT_EQ(
      read_in(kPlain + "__host__ __device__ void both(float* x) { k<<<7, 64>>>(x, 8); }").json["launch"]["grid"][0],
      "7");
}

TEST(ImportTold, ATemplatesTypeIsThatOfThePointerThatTheLaunchHandsOver) {
  const Read read = read_in(kTemplate +
                            "typedef double real;\nint main() { real *x; cudaMalloc(&x, 8 * sizeof(real));\n"
                            "k<<<1, 32>>>(x, 8); }");
  EXPECT_EQ(read.json["entry"], "k<double>");
  EXPECT_EQ(read.json["buffers"][0]["shape"], Json::array({"8"}));
  EXPECT_THAT(read.imported.guessed, Not(Contains(HasSubstr("template"))));
  EXPECT_EQ(read_in(kTemplate + "void run(const double* x, int n) { k<<<1, 32>>>(x, n); }").json["entry"], "k<double>");
  // A cast hands over something else, and an unknown type is none.
  for (const char* const host : {"void run(double* x, int n) { k<<<1, 32>>>((float*)x, n); }",
                                 "template <class U> void run(U* x, int n) { k<<<1, 32>>>(x, n); }",
                                 "struct Traits { using U = double; };\n"
                                 "template <class U> void run(U* x, int n) { k<<<1, 32>>>(x, n); }",
                                 "#ifndef WIDE\ntypedef float real;\n#else\ntypedef double real;\n#endif\n"
                                 "void run(real* x, int n) { k<<<1, 32>>>(x, n); }"})
    EXPECT_THAT(read_in(kTemplate + host).imported.guessed,
                Contains(StartsWith(std::string(kTemplateSaid) + "<float>")))
        << host;
}

// A declaration counts as long as its block lasts.
TEST(ImportTold, AnInnerBlocksPointerIsAnother) {
  EXPECT_EQ(read_in(kTemplate + "void run(double *x) { { float *x; init(x); } k<<<1, 32>>>(x, 8); }").json["entry"],
            "k<double>");
}

// 8 bytes are two floats or one double.
TEST(ImportTold, ALengthThatDependsOnAGuessedTypeIsAGuess) {
  const auto shaped = [](const std::string& bytes) {
    return read_in(kTemplate + "template <class U> void run(U* y) { cudaMalloc(&y, " + bytes +
                   "); k<<<1, 32>>>(y, 100); }");
  };
  EXPECT_TRUE(shaped("800").json["buffers"][0].value("guessed", false));
  EXPECT_THAT(shaped("800").imported.read, Not(Contains(HasSubstr("as it is allocated"))));
  EXPECT_THAT(shaped("100 * sizeof(T)").imported.read, Contains(HasSubstr("as it is allocated")));
}

TEST(ImportTold, ANumberMayStandInBraces) {
  const std::string kernel =
      "__global__ void k(float* x, int n) { extern __shared__ float s[]; s[threadIdx.x] = x[n]; x[n] = s[0]; }\n";
  const Read read =
      read_in(kernel +
              "void run(float* x, int n) { const int threads{128}; std::size_t bytes { threads * sizeof(float) };\n"
              "  auto const grid = dim3{4u, 2u}; k<<<grid, threads, bytes>>>(x, n); }");
  EXPECT_EQ(read.json["launch"]["dynamic_shared"], "512");
  EXPECT_EQ(read.json["launch"]["block"][0], "128");
  EXPECT_EQ(read.json["launch"]["grid"], Json({"4", "2", "1"}));
  EXPECT_EQ(read.imported.guessed.end(), std::ranges::find_if(read.imported.guessed, [](const std::string& one) {
              return one.starts_with("the block") || one.starts_with("dynamic");
            }));
}

// Any function of a class may set a member, and a loop's counter is its loop's.
TEST(ImportTold, ANumberInBracesIsKnownInItsBlock) {
  const Read member = read_in(kPlain +
                              "class R { int threads{128}; public: void set(int t) { threads = t; }\n"
                              "  void run(float* x, int n) { k<<<1, threads>>>(x, n); } };");
  EXPECT_THAT(member.imported.guessed, Contains(StartsWith("the block: ")));
  const Read counter =
      read_in(kPlain + "void run(float* x, int n) { for (int n{8}; n < 9; ++n) { f(n); } k<<<1, 32>>>(x, n); }");
  EXPECT_NE(counter.json["sizes"]["n"], 8);
  EXPECT_THAT(read_in(kTemplate + "void run(float* x) { int n{}; k<float><<<n, 32>>>(x, 4); }").imported.guessed,
              Contains(StartsWith("the grid: ")));
}

TEST(ImportTold, AValueMayBeWhatAFunctionReturns) {
  const std::string kernel =
      "__global__ void k(float* x, int n) { extern __shared__ float s[]; s[threadIdx.x] = x[n]; x[n] = s[0]; }\n"
      "size_t bytes_of() { size_t most = std::max(64 * sizeof(float), 32 * sizeof(double)); init(most); return most; "
      "}\n";
  const std::string launch =
      "void run(float* x, int n) { static size_t bytes = bytes_of(); k<<<1, 32, bytes>>>(x, n); }\n";
  EXPECT_EQ(read_in(kernel + launch).json["launch"]["dynamic_shared"], "256");
  // Two of a name, or two returns: nothing says which.
  const std::string twin = "namespace other { size_t bytes_of() { return 8; } }\n";
  EXPECT_THAT(read_in(kernel + twin + launch).imported.guessed, Contains(StartsWith("dynamic shared memory")));
  const std::string two =
      "__global__ void k(float* x, int n) { extern __shared__ float s[]; x[n] = s[0]; }\n"
      "size_t bytes_of() { if (fast()) return 64; return 128; }\n";
  EXPECT_THAT(read_in(two + launch).imported.guessed, Contains(StartsWith("dynamic shared memory")));
}

}  // namespace
}  // namespace attnscope::catalog
