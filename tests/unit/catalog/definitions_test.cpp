#include "catalog/definitions.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/temp_dir.h"

namespace attnscope::catalog {
namespace {

namespace fs = std::filesystem;

TEST(Definitions, AreInTheNearestSourceThatHasABody) {
  const testing_support::TempDir folder;
  const fs::path root = fs::canonical(folder.path());
  fs::create_directories(root / ".git");
  fs::create_directories(root / "src");
  const auto write = [&](const char* name, const char* text) { std::ofstream(root / name) << text; };
  write("src/k.cu", "__device__ int merge(int a);\n__global__ void k(int* x) { x[0] = merge(1); }");
  write("src/declares.cu", "__device__ int merge(int a);");
  write("src/calls.cu", "__global__ void other(int* x) { x[0] = merge(1); }");
  write("src/defines.cu", "__device__ int merge(int a) { return a; }");
  write("far.cu", "__device__ int merge(int a) { return a; } __device__ int rest(int a) { return a; }");
  Project project(root / "src/k.cu");
  EXPECT_EQ(file_that_defines("merge", project, {}), root / "src/defines.cu");
  EXPECT_EQ(file_that_defines("merge", project, {root / "src/defines.cu"}), root / "far.cu");
  EXPECT_EQ(file_that_defines("rest", project, {}), root / "far.cu");
  EXPECT_EQ(file_that_defines("nothing", project, {}), std::nullopt);
}

}  // namespace
}  // namespace attnscope::catalog
