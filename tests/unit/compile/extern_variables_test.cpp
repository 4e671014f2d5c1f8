#include "compile/extern_variables.h"

#include <gtest/gtest.h>

namespace attnscope::compile {
namespace {

TEST(ExternVariables, TheFirstDeclarationBecomesTheDefinition) {
  EXPECT_EQ(with_extern_variables_defined("extern __constant__ float w[16];\nextern __constant__ float w[16];"),
            "       __constant__ float w[16];\nextern __constant__ float w[16];");
  EXPECT_EQ(with_extern_variables_defined("__device__ extern int count;"), "__device__        int count;");
  EXPECT_EQ(with_extern_variables_defined("extern __constant__ __align__(16) float w[4];"),
            "       __constant__ __align__(16) float w[4];");
  EXPECT_EQ(with_extern_variables_defined("extern __constant__ float a[4], b[4];"),
            "       __constant__ float a[4], b[4];");
}

TEST(ExternVariables, WhatTheSourceDefinesStays) {
  for (const char* const source : {
           "extern __constant__ float w[16];\n__constant__ float w[16] = {1};",
           "extern __device__ int n;\n__device__ int n;",
           "extern __constant__ float w[4];\n__constant__ alignas(16) float w[4];",
           "extern __constant__ float a[4], b[4];\n__constant__ float b[4];",
           "extern __constant__ float a[4];\n__constant__ float b[2] = {1, 2}, a[4];",
           "extern \"C\" __device__ const int limit = 4;",
           "extern \"C\" __global__ void k(float* x) { extern __shared__ float part[]; x[0] = part[0]; }",
           "extern __device__ float f(float x);",
           "extern int of_the_host;",
           "extern \"C\" { __constant__ float w[2]; }",
           "// extern __constant__ float w[2];",
           "extern __device__",
           "extern",
       })
    EXPECT_EQ(with_extern_variables_defined(source), source);
}

TEST(ExternVariables, ManyOfThemCostTheirLength) {
  std::string many;
  for (int i = 0; i < 100000; ++i) many += "extern __constant__ float w[";
  EXPECT_EQ(with_extern_variables_defined(many).size(), many.size());
}

}  // namespace
}  // namespace attnscope::compile
