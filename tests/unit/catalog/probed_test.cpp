#include "catalog/probed.h"

#include <gmock/gmock.h>

#include "unit/catalog/support.h"

namespace attnscope::catalog {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kSource = R"(__global__ void rows(const float* x, float* y, float* known, int n) {
  y[4 * threadIdx.x + n] = x[threadIdx.x];
  known[threadIdx.x] = 1;
}
int main() {
  float *a, *b, *c;
  int n = 64;
  cudaMalloc(&c, n * sizeof(float));
  rows<<<1, 64>>>(a, b, c, n);
}
)";

Json buffer_of(const Imported& imported, const std::string& name) {
  const auto json = parse_json(imported.manifest, "manifest");
  for (const Json& buffer : (*json)["buffers"])
    if (buffer["name"] == name) return buffer;
  return {};
}
Json shape_of(const Imported& imported, const std::string& name) { return buffer_of(imported, name)["shape"]; }

TEST(Probed, AGuessedLengthGrowsByPowersOfTwo) {
  Imported imported = *import_kernel("rows.cu", kSource, "");
  EXPECT_THAT(imported.guessed, Contains("y has [\"n\"] elements"));
  ASSERT_TRUE(lengthen(imported, "y", 3));
  EXPECT_EQ(shape_of(imported, "y"), Json({"n", "4"}));
  ASSERT_TRUE(lengthen(imported, "y", 2));
  EXPECT_EQ(shape_of(imported, "y"), Json({"n", "8"}));
  EXPECT_EQ(shape_of(imported, "x"), Json({"n"}));
  EXPECT_THAT(imported.guessed, Not(Contains(StartsWith("y has "))));
  EXPECT_THAT(imported.probed, ElementsAre("y has [\"n\",\"8\"] elements: a run went past the end of half as many"));
  EXPECT_TRUE(parse_kernel({"rows.json", imported.manifest, "rows.cu", kSource}));
}

TEST(Probed, TheManifestSaysWhichLengthIsAGuess) {
  Imported imported = *import_kernel("rows.cu", kSource, "");
  EXPECT_EQ(buffer_of(imported, "y")["guessed"], true);
  EXPECT_FALSE(buffer_of(imported, "known").contains("guessed"));
  ASSERT_TRUE(lengthen(imported, "y", 3));
  EXPECT_EQ(buffer_of(imported, "y")["guessed"], true) << "it is long enough, and may be too long";
  const auto kernel = parse_kernel({"rows.json", imported.manifest, "rows.cu", kSource});
  ASSERT_TRUE(kernel) << kernel.error().message;
  for (const BufferDeclaration& buffer : kernel->buffers) EXPECT_EQ(buffer.guessed, buffer.name != "known");
}

// Past the end of what the host code allocates is a fault of the kernel.
TEST(Probed, AReadLengthStays) {
  Imported imported = *import_kernel("rows.cu", kSource, "");
  const std::string before = imported.manifest;
  EXPECT_FALSE(lengthen(imported, "known", 2));
  EXPECT_FALSE(lengthen(imported, "nothing", 2));
  EXPECT_FALSE(lengthen(imported, "y", int64_t{1} << 20));
  EXPECT_EQ(imported.manifest, before);
  EXPECT_TRUE(imported.probed.empty());
}

TEST(Probed, WhatTakesTooLongGetsASmallerSize) {
  Imported imported = *import_kernel("rows.cu", kSource, "");
  nlohmann::json json = *parse_json(imported.manifest, "manifest");
  json["sizes"]["n"] = 4096;
  imported.manifest = json.dump();
  ASSERT_TRUE(lower_largest(imported));
  ASSERT_TRUE(lower_largest(imported));
  EXPECT_EQ((*parse_json(imported.manifest, "manifest"))["sizes"]["n"], 256);
  EXPECT_THAT(imported.guessed,
              Contains("n = 256 to begin with, so that a CTA ends in seconds: --problem n=4096 sets it back"));
  ASSERT_TRUE(lower_largest(imported));
  ASSERT_TRUE(lower_largest(imported));
  EXPECT_FALSE(lower_largest(imported)) << "16 is no large size";
}

// A CTA that waits for another one needs it to run.
TEST(Probed, ALaunchWhoseCtasWaitForEachOtherBecomesCooperative) {
  Imported imported = *import_kernel("rows.cu", kSource, "");
  ASSERT_TRUE(run_together(imported));
  EXPECT_EQ((*parse_json(imported.manifest, "manifest"))["launch"]["cooperative"], true);
  EXPECT_THAT(imported.probed, Contains(HasSubstr("the launch is cooperative")));
  EXPECT_FALSE(run_together(imported));
}

// An index in random numbers points anywhere.
TEST(Probed, WholeNumbersOfInputsBecomeZeros) {
  Imported imported = *import_kernel(
      "k.cu", "__global__ void k(const int* index, const float* x, float* y, int n) { y[0] = x[index[n]]; }", "");
  ASSERT_TRUE(zero_whole_numbers(imported));
  EXPECT_EQ(buffer_of(imported, "index")["init"], "zeros");
  EXPECT_EQ(buffer_of(imported, "x")["init"], "random");
  EXPECT_THAT(imported.guessed, Contains("index holds zeros: with random whole numbers a run leaves a buffer"));
  EXPECT_FALSE(zero_whole_numbers(imported));
}

TEST(Probed, FloatsOfInputsBecomeOnes) {
  Imported imported = *import_kernel(
      "k.cu", "__global__ void k(const int* n, const float* at, float* y) { y[(int)at[*n] - 1] = 1; }", "");
  ASSERT_TRUE(one_floats(imported));
  EXPECT_EQ(buffer_of(imported, "at")["init"], "ones");
  EXPECT_EQ(buffer_of(imported, "n")["init"], "random");
  EXPECT_THAT(imported.guessed, Contains("at holds ones: with random floats a run leaves a buffer"));
  EXPECT_FALSE(one_floats(imported));
}

TEST(Probed, OnlyAGuessedSizeIsLowered) {
  Imported imported = *import_kernel("k.cu",
                                     "__global__ void k(float* y, int rows, int columns) { y[rows] = columns; }\n"
                                     "int main() { const int rows = 4096; k<<<1, 32>>>(0, rows, width()); }",
                                     "");
  ASSERT_TRUE(lower_guessed(imported, 64));
  ASSERT_TRUE(lower_guessed(imported, 8));
  EXPECT_FALSE(lower_guessed(imported, 8));
  const Json sizes = (*parse_json(imported.manifest, "manifest"))["sizes"];
  EXPECT_EQ(sizes["rows"], 4096);
  EXPECT_EQ(sizes["columns"], 8);
  EXPECT_THAT(imported.guessed, Contains("columns = 8 to begin with, since a run at its guess leaves a buffer: "
                                         "--problem columns=1024 sets it back"));
  EXPECT_THAT(imported.guessed, Not(Contains(StartsWith("columns = 64"))));
}

TEST(Probed, ALengthThatAnotherFileSaysIsDoubted) {
  const std::string kernel = "__global__ void k(float* y, int n) { y[2 * threadIdx.x] = n; }\n";
  const std::string host =
      "int main() { int n = 64; float* y; cudaMalloc(&y, n * sizeof(float)); k<<<1, 64>>>(y, n); }\n";
  Imported own = *import_kernel("k.cu", kernel + host, "");
  EXPECT_FALSE(doubt_length(own, "y"));
  Imported other = *import_kernel("k.cu", kernel, "k", "", "", host);
  EXPECT_THAT(other.read, Contains("y has n elements, as it is allocated"));
  ASSERT_TRUE(doubt_length(other, "y"));
  EXPECT_FALSE(doubt_length(other, "y"));
  EXPECT_THAT(other.read, Not(Contains(StartsWith("y has"))));
  ASSERT_TRUE(lengthen(other, "y", 2));
  EXPECT_EQ(shape_of(other, "y"), Json({"n", "2"}));
  EXPECT_EQ(buffer_of(other, "y")["guessed"], true);
}

// The compiler leaves out what the kernel does not use.
TEST(Probed, AVariableThatTheKernelLacksHasNoBuffer) {
  Imported imported = *import_kernel("k.cu", R"(__constant__ float used[4]; __constant__ float unused[8];
__global__ void k(float* y) { y[threadIdx.x] = used[threadIdx.x]; }
int main() { float h[8]; cudaMemcpyToSymbol(used, h, 16); cudaMemcpyToSymbol(unused, h, 32); k<<<1, 4>>>(d); })",
                                     "");
  ASSERT_EQ(buffer_of(imported, "unused")["symbol"], "unused");
  ASSERT_TRUE(drop_variable(imported, "unused"));
  EXPECT_TRUE(buffer_of(imported, "unused").is_null());
  EXPECT_EQ(buffer_of(imported, "used")["symbol"], "used");
  EXPECT_THAT(imported.guessed, Not(Contains(HasSubstr("variable unused "))));
  EXPECT_THAT(imported.probed, Contains("the kernel does not use the __constant__ variable unused"));
  EXPECT_FALSE(drop_variable(imported, "unused"));
  EXPECT_FALSE(drop_variable(imported, ""));
}

TEST(Probed, AVariableThatAKnobMayBringInIsKept) {
  Imported imported = *import_kernel("k.cu", R"(#ifndef WEIGHTED
#define WEIGHTED 0
#endif
__constant__ float weights[8];
__global__ void k(float* y) { y[threadIdx.x] = WEIGHTED ? weights[threadIdx.x] : 1; }
int main() { float h[8]; cudaMemcpyToSymbol(weights, h, 32); k<<<1, 4>>>(d); })",
                                     "");
  ASSERT_EQ(buffer_of(imported, "weights")["symbol"], "weights");
  EXPECT_FALSE(drop_variable(imported, "weights"));
  EXPECT_EQ(buffer_of(imported, "weights")["symbol"], "weights");
}

}  // namespace
}  // namespace attnscope::catalog
