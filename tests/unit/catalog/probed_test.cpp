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

}  // namespace
}  // namespace attnscope::catalog
