#include "catalog/import.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "catalog/workload.h"
#include "support/sanitized.h"
#include "unit/catalog/support.h"

namespace attnscope::catalog {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

Json manifest_of(const std::string& source, const std::string& entry = "", const std::string& name = "k.cu") {
  const auto imported = import_kernel(name, source, entry);
  if (!imported) return imported.error().message;
  const auto kernel = parse_kernel({imported->id + ".json", imported->manifest, name, source});
  EXPECT_TRUE(kernel) << kernel.error().message << "\n" << imported->manifest;
  return *parse_json(imported->manifest, "manifest");
}

TEST(Import, SaysWhichConstantsTheHostCodeSets) {
  const auto imported =
      import_kernel("k.cu",
                    "__constant__ float weights[16];\nstatic __constant__ int2 bias;\n"
                    "__constant__ float preset_table[2] = {1, 2};\n__constant__ const int fixed_value{1};\n"
                    "__global__ void k(float* y) { y[0] = weights[0] + bias.x + preset_table[0] + fixed_value; }\n",
                    "");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(imported->guessed, Contains(HasSubstr("__constant__ variable weights holds zeros")));
  EXPECT_THAT(imported->guessed, Contains(HasSubstr("\"symbol\": \"bias\"")));
  EXPECT_THAT(imported->guessed, testing::Not(Contains(HasSubstr("preset_table"))));
  EXPECT_THAT(imported->guessed, testing::Not(Contains(HasSubstr("fixed_value"))));
}

TEST(Import, ConstantsThatTheHostCodeSetsGetABuffer) {
  const Json json = manifest_of(
      "#define LENGTH 16\n__constant__ float weights[2][LENGTH + 1];\n__constant__ int count;\n"
      "__constant__ float other[LENGTH];\nextern __constant__ float later[4];\n"
      "__global__ void k(float* y, float* count) { y[0] = weights[0][0] + other[0]; }\n"
      "int main() { check(cudaMemcpyToSymbol(weights, h, 136)); cudaMemcpyToSymbol(count, &n, 4);\n"
      "  cudaMemcpyToSymbol(later, h, 16); k<<<1, 1>>>(a, b); }\n");
  Json constants = Json::object();
  for (const Json& buffer : json["buffers"])
    if (buffer.contains("symbol")) constants[buffer["symbol"].get<std::string>()] = buffer;
  ASSERT_EQ(constants.size(), 3u) << json.dump();
  EXPECT_EQ(constants["weights"]["shape"], Json({"2", "17"}));
  EXPECT_EQ(constants["weights"]["init"], "random");
  EXPECT_EQ(constants["count"]["name"], "count_");  // a parameter has its name
  EXPECT_EQ(constants["count"]["shape"], Json({"1"}));
  EXPECT_EQ(constants["count"]["init"], "zeros");
  EXPECT_EQ(constants["later"]["dtype"], "f32");
}

// Such a pointer leads to an address, which no manifest can fill.
TEST(Import, APointerToPointersIsRefused) {
  for (const std::string parameter : {"float** x", "const float* const* x", "float* __restrict__* x", "float* x[4]"}) {
    const auto imported =
        import_kernel("k.cu", "__global__ void k(float* y, " + parameter + ") { y[0] = x[0][0]; }\n", "");
    ASSERT_FALSE(imported) << parameter;
    EXPECT_THAT(imported.error().message, HasSubstr("k's parameter x is a float**, which cannot be passed"));
    EXPECT_THAT(imported.error().hint, HasSubstr("one buffer with an offset for each"));
  }
  for (const std::string parameter : {"float (*x)[4]", "float x[4][4]", "float x[][4]"})
    EXPECT_TRUE(import_kernel("k.cu", "__global__ void k(float* y, " + parameter + ") { y[0] = x[0][0]; }\n", ""))
        << parameter;
}

// A value that a branch or a += may have changed is not read.
TEST(Import, AVariableThatChangesIsAGuess) {
  for (const char* const change : {"if (n > wide) block = 64;", "if (wide) { block = 64; }", "block *= 2;", "block++;",
                                   "--block;", "block >>= 1;", "if (wide) n = 1; else block = 32;"}) {
    const auto imported = import_kernel("k.cu",
                                        std::string("__global__ void k(float* x, int n) { x[n] = 1; }\n"
                                                    "void run(float* x, int n, int wide) {\n  int block = 128;\n  ") +
                                            change + "\n  k<<<4, block>>>(x, n);\n}\n",
                                        "");
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_THAT(imported->guessed, Contains(HasSubstr("the block: 128 x 1 x 1 threads"))) << change;
  }
  for (const char* const same : {"block = 128;", "if (block == n) n = 2;", "if (block >= 2) ;", "int other = block;"}) {
    const auto imported =
        import_kernel("k.cu",
                      std::string("__global__ void k(float* x, int n) { x[n] = 1; }\n"
                                  "void run(float* x, int n) {\n  int block = 64;\n block = 128;\n  ") +
                          same + "\n  k<<<4, block>>>(x, n);\n}\n",
                      "");
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_THAT(imported->read, Contains(HasSubstr("the block: 128 x 1 x 1 threads"))) << same;
  }
}

TEST(Import, ReadsSizesKnobsAndTheLaunch) {
  const Json json = manifest_of(R"(#include <vector>
#ifndef TILE
#define TILE 64
#endif
constexpr int kRows = 4;
__global__ void scale(const float* __restrict__ in, float* out, float factor, int n) {}
int main() {
  const int n = 1 << 10;
  dim3 block(TILE, kRows);
  scale<<<dim3((n + TILE - 1) / TILE, kRows), block, TILE * sizeof(float)>>>(nullptr, nullptr, 2.f, n);
}
)");
  EXPECT_EQ(json["entry"], "scale");
  EXPECT_EQ(json["sizes"], Json({{"n", 1024}}));
  EXPECT_EQ(json["knobs"][0]["values"], Json({32, 64, 128}));
  EXPECT_EQ(json["launch"]["grid"], Json({"ceil_div(n, TILE)", "4", "1"}));
  EXPECT_EQ(json["launch"]["block"], Json({"TILE", "4", "1"}));
  EXPECT_EQ(json["launch"]["dynamic_shared"], "TILE * 4");
  EXPECT_EQ(json["buffers"][0]["role"], "in");
  EXPECT_EQ(json["buffers"][1]["role"], "inout");
  EXPECT_EQ(json["args"], Json({"in", "out", Json({{"value", 2.0}, {"type", "f32"}}), "n"}));
}

// From a manifest: name to role, init or shape.
Json of_buffers(const Json& json, const char* key) {
  Json found = Json::object();
  for (const Json& buffer : json["buffers"]) found[buffer["name"].get<std::string>()] = buffer.value(key, Json());
  return found;
}

// If everything that a kernel only reads is zero, its output is zero, whatever it computes.
TEST(Import, ARoleIsWhatTheKernelDoesWithItsPointer) {
  const Json json = manifest_of(R"(#define FLOAT4(x) (reinterpret_cast<float4*>(&(x))[0])
__device__ void helper(float* p);
__global__ void k(float* A, float* B, float* C, float* both, float* moved, float* vec_in, float* vec_out, float* cast_in,
                  float* cast_out, float* handed, int* bins, float* ldg, float* macro_out, float* stored, float* tested,
                  const float* given, int n) {
  A += n;
  moved = moved + 4;
  float sum = A[0] * B[threadIdx.x] + moved[1];
  if (B == nullptr) return;
  C[threadIdx.x] = sum;
  both[n] += 1;
  float4 v = reinterpret_cast<float4*>(vec_in)[n];
  reinterpret_cast<float4*>(&vec_out[n])[0] = v;
  float4 w = *(float4*)&cast_in[n];
  *(float4*)(&cast_out[n]) = w;
  helper(handed);
  atomicAdd(&bins[n], 1);
  sum += __ldg(ldg + n);
  FLOAT4(macro_out[n]) = v;
  STORE(stored[n], sum);
  if (tested[n] > 0) return;
})");
  EXPECT_EQ(of_buffers(json, "role"), Json({{"A", "in"},
                                            {"B", "in"},
                                            {"C", "out"},
                                            {"both", "inout"},
                                            {"moved", "in"},
                                            {"vec_in", "in"},
                                            {"vec_out", "out"},
                                            {"cast_in", "in"},
                                            {"cast_out", "out"},
                                            {"handed", "inout"},
                                            {"bins", "inout"},
                                            {"ldg", "in"},
                                            {"macro_out", "out"},
                                            {"stored", "inout"},
                                            {"tested", "in"},
                                            {"given", "in"}}));
  const Json init = of_buffers(json, "init");
  EXPECT_EQ(init["A"], "random");
  EXPECT_EQ(init["bins"], "zeros") << "counted up from 0";
  EXPECT_EQ(init["handed"], "random") << "it may be an input";
}

// From zeros x * a is 0, whatever the kernel does with x.
TEST(Import, WhatTheKernelLoadsFirstStartsRandom) {
  const std::string kernel = R"(
__global__ void k(float* x, float* sums, int* next, float* l, float* m, float* old, int n) {
  const int i = threadIdx.x;
  x[i] = x[i] * 2 + 1;
  atomicAdd(&sums[0], x[i]);
  next[i] = next[i] + 1;
  l[i] = l[i] * exp(m[i]);
  m[i] = max(m[i], l[i]);
  old[i] = old[i] / 2;
}
)";
  const Json single = manifest_of(kernel);
  EXPECT_EQ(of_buffers(single, "role")["x"], "inout");
  EXPECT_EQ(of_buffers(single, "init"), Json({{"x", "random"},
                                              {"sums", "zeros"},  // counted up from 0
                                              {"next", "zeros"},  // it may be an index
                                              {"l", "random"},
                                              {"m", "random"},
                                              {"old", "random"}}));
  const std::string host = R"(
void run(float* sums, int* next, float* y, int n) {
  float* x;
  cudaMalloc(&x, n * sizeof(float));
  auto l = torch::zeros({n});
  auto m = torch::full({n}, -INFINITY);
  k<<<1, 32>>>(x, sums, next, l.data_ptr<float>(), m.data_ptr<float>(), y, n);
}
int main() { float* d_y; cudaMalloc(&d_y, 64 * 4); cudaMemset(d_y, 0, 64 * 4); run(sums, next, d_y, 64); }
)";
  const auto imported = import_kernel("k.cu", kernel + host, "");
  ASSERT_TRUE(imported) << imported.error().message;
  const Json init = of_buffers(*parse_json(imported->manifest, "k.json"), "init");
  EXPECT_EQ(init["x"], "random");
  EXPECT_EQ(init["l"], "zeros");
  EXPECT_EQ(init["m"], Json({{"fill", "-inf"}}));
  EXPECT_EQ(init["old"], "zeros");
  EXPECT_THAT(imported->guessed, Contains("x is read and written, and starts random"));
  EXPECT_THAT(imported->read, Contains("l starts as zeros, as the host code fills it"));
  EXPECT_THAT(imported->read, Contains("m starts as -inf, as the host code fills it"));
}

TEST(Import, OneElementIsSingular) {
  const auto imported = import_kernel("k.cu",
                                      "__global__ void k(const float* x, float* y) { y[0] = x[0]; }\n"
                                      "int main() { float *x, *y; cudaMalloc(&x, 4); cudaMalloc(&y, 2 * 4); "
                                      "k<<<1, 1>>>(x, y); }",
                                      "");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(imported->read, Contains("x has 1 element, as it is allocated"));
  EXPECT_THAT(imported->read, Contains("y has 2 elements, as it is allocated"));
}

// An element that is not stored to keeps its content, so that content must be known.
TEST(Import, WhatTheDataMayLeaveUnwrittenStartsAsZeros) {
  const Json json = manifest_of(R"(__device__ int place(int* counter) { return atomicAdd(counter, 1); }
__global__ void k(const int* x, int* kept, int* count, int* total, int* plain, int* guarded, int* sent, int* late,
                  int* first, int* chosen, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  plain[i] = x[i];
  if (i < n && threadIdx.x == 0) guarded[blockIdx.x] = max(x[i], 3);
  const auto [to, from] = both(x[i], 7);
  sent[to] = 1;
  if (x[i] > 50) kept[place(count)] = x[i];
  cuda::atomic_ref<int, cuda::thread_scope_device> all(*total);
  auto& one = first[0];
  const bool keep = x[i] % 2 == 0;
  if (i > 3) { const int two = 2; } else if (keep) chosen[i] = 1;
  if (keep) { return; }
  late[i] = 4;
})");
  EXPECT_EQ(of_buffers(json, "role"), Json({{"x", "in"},
                                            {"kept", "inout"},
                                            {"count", "inout"},
                                            {"total", "inout"},
                                            {"plain", "out"},
                                            {"guarded", "out"},
                                            {"sent", "inout"},
                                            {"late", "inout"},
                                            {"first", "inout"},
                                            {"chosen", "inout"}}));
  const Json init = of_buffers(json, "init");
  for (const char* name : {"kept", "count", "total", "sent", "late", "first", "chosen"})
    EXPECT_EQ(init[name], "zeros") << name;
}

TEST(Import, AnAllocatedProductIsRowsAndColumns) {
  const std::string kernel =
      "__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) { C[0] = A[0] * B[0]; }\n";
  const Json json =
      manifest_of(kernel +
                  "int main() { int M = 50, N = 70, K = 33; float *A, *B, *C; cudaMalloc(&A, M * K * 4), "
                  "cudaMalloc(&B, N * K * 4), cudaMalloc(&C, (M * N + 2) * 4); k<<<1, 32>>>(A, B, C, M, N, K); }");
  EXPECT_EQ(of_buffers(json, "shape"), Json({{"A", {"M", "K"}}, {"B", {"K", "N"}}, {"C", {"(M * N + 2)"}}}));
}

// y = x·wᵀ: the host allocates N * K, and the kernel takes rows of K.
TEST(Import, AnAllocatedProductHasTheRowsThatTheKernelTakes) {
  const auto shape = [](const std::string& subscript) {
    const Json json = manifest_of(
        "__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {\n"
        "  float s = 0;\n  for (int i = 0; i < K; ++i) s += A[threadIdx.y * K + i] * B[" +
        subscript +
        "];\n"
        "  C[threadIdx.y * N + threadIdx.x] = s;\n}\n"
        "int main() { int M = 50, N = 70, K = 33; float *A, *B, *C; cudaMalloc(&A, M * K * 4), "
        "cudaMalloc(&B, N * K * 4), cudaMalloc(&C, M * N * 4); k<<<1, 32>>>(A, B, C, M, N, K); }");
    return of_buffers(json, "shape")["B"];
  };
  EXPECT_EQ(shape("threadIdx.x * K + i"), Json({"N", "K"}));
  EXPECT_EQ(shape("i * N + threadIdx.x"), Json({"K", "N"}));
  EXPECT_EQ(shape("i"), Json({"K", "N"})) << "by its name";
}

TEST(Import, NoSizeIsInventedWhereEveryLengthIsKnown) {
  const std::string kernel = "__global__ void k(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }\n";
  const auto known = import_kernel(
      "k.cu",
      kernel + "int main() { float *x, *y; cudaMalloc(&x, 256 * 4); cudaMalloc(&y, 256 * 4); k<<<1, 256>>>(x, y); }",
      "", "", "");
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ((*parse_json(known->manifest, "k.json"))["sizes"], Json::object());
  EXPECT_TRUE(known->guessed.empty()) << testing::PrintToString(known->guessed);
  const auto open = import_kernel("k.cu", kernel, "", "", "");
  ASSERT_TRUE(open) << open.error().message;
  EXPECT_EQ((*parse_json(open->manifest, "k.json"))["sizes"], Json({{"elements", 1024}}));
}

// From main through two functions to the launch.
TEST(Import, SizesAndExtentsAreFollowedThroughTheCallers) {
  const std::string source = R"(
__global__ void norm(float* out, const float* inp, const float* weight, int N, int C) {
  extern __shared__ float s[];
  out[0] = inp[0] * weight[0];
}
void norm_forward1(float* out, const float* inp, const float* weight, int B, int T, int C, const int block_size) {
  const int N = B * T;
  const int grid_size = (N + block_size - 1) / block_size;
  size_t bytes = 2 * block_size * sizeof(float);
  norm<<<grid_size, block_size, bytes>>>(out, inp, weight, N, C);
}
void norm_forward(int which, float* out, const float* inp, const float* weight, int B, int T, int C, int block_size) {
  switch (which) { case 1: norm_forward1(out, inp, weight, B, T, C, block_size); }
}
int main(int argc, char** argv) {
  int B = 8, T = 16, C = 768;
  float *d_out, *d_inp, *d_weight;
  cudaCheck(cudaMalloc(&d_out, B * T * C * sizeof(float)));
  cudaCheck(cudaMalloc((void**)&d_inp, B * T * C * sizeof(float)));
  cudaCheck(cudaMalloc(&d_weight, C * sizeof(float)));
  for (int i = 0; i < 3; ++i) norm_forward(atoi(argv[1]), d_out, d_inp, d_weight, B, T, C, sizes[i]);
})";
  const auto imported = import_kernel("k.cu", source, "");
  ASSERT_TRUE(imported) << imported.error().message;
  const Json json = manifest_of(source);
  EXPECT_EQ(json["sizes"], Json({{"N", 128}, {"C", 768}}));
  EXPECT_EQ(of_buffers(json, "shape")["weight"], Json::array({"C"}));
  EXPECT_EQ(of_buffers(json, "shape")["inp"], Json::array({"128", "C"}));
  EXPECT_EQ(json["launch"]["block"], Json({"256", "1", "1"}));
  EXPECT_EQ(json["launch"]["grid"], Json({"ceil_div(N, 256)", "1", "1"}));
  EXPECT_EQ(json["launch"]["dynamic_shared"], "2048");
  EXPECT_THAT(imported->guessed, Contains(HasSubstr("block_size = 256, which the host code computes")));
  EXPECT_THAT(imported->read, Contains("C is 768 in the host code"));
}

// Names from other blocks or functions are not read.
TEST(Import, OnlyWhatTheLaunchSeesIsRead) {
  const std::string source = R"(__global__ void k(float* x, int n) { x[0] = 1; }
void other() { int n = 4096; dim3 grid(7); }
void run(float* x, int n, bool wide) {
  int grid = 5;
  if (wide) { int grid = 3; int block = 512; k<<<grid, block>>>(x, n); }
  else { int block = 128; k<<<grid, block>>>(x, n); }
}
)";
  const auto imported = import_kernel("k.cu", source, "");
  ASSERT_TRUE(imported);
  EXPECT_THAT(imported->read, Contains("the grid: 3 x 1 x 1 CTAs"));
  EXPECT_THAT(imported->read, Contains("the block: 512 x 1 x 1 threads"));
  EXPECT_THAT(imported->guessed, Contains("the size n = 4096, as elsewhere in the host code"));
  const std::string outer = R"(__global__ void k(float* x, int n) { x[0] = 1; }
void run(float* x, int n) { int grid = 5; { int grid = 3; } k<<<grid, 64>>>(x, n); })";
  EXPECT_EQ(manifest_of(outer)["launch"]["grid"], Json({"5", "1", "1"}));
}

TEST(Import, ABranchThatTheHostCodeRulesOutIsNotTheLaunch) {
  const std::string source = R"(template <int B> __global__ void k(float* x, int n) { x[0] = B; }
void run(float* x, int n) {
  const int block_size = 32;
  dim3 threads(block_size, block_size);
  if (block_size == 16) { k<16><<<n, threads>>>(x, n); } else { k<32><<<n, threads>>>(x, n); }
})";
  EXPECT_EQ(manifest_of(source)["entry"], "k<32>");
  EXPECT_EQ(manifest_of(source)["launch"]["block"], Json({"32", "32", "1"}));
}

TEST(Import, AnEmptyGridOrSizeIsNoReading) {
  const auto imported = import_kernel("k.cu", R"(__global__ void k(float* x, int k) { x[0] = 1; }
int main() { for (int k = 0; k < 9; ++k) {} int z = 0, y = 0; k<<<y, 64>>>(p, z); })",
                                      "");
  ASSERT_TRUE(imported);
  EXPECT_THAT(imported->guessed, Contains("the size k = 1024"));
  EXPECT_THAT(imported->guessed, Contains("the grid: ceil_div(k, 64) x 1 x 1 CTAs"));
}

TEST(Import, AComputedDimensionOfADim3IsOnlyThatDimension) {
  const auto imported = import_kernel("k.cu", R"(__global__ void k(float* x, int n) { x[0] = 1; }
void run(float* x, int n) { int blocks = count(n); dim3 g(blocks, 2); dim3 b(64, n > 4 ? 2 : 1); k<<<g, b>>>(x, n); })",
                                      "");
  ASSERT_TRUE(imported);
  const Json json = *parse_json(imported->manifest, "manifest");
  EXPECT_EQ(json["launch"]["grid"], Json({"1", "2", "1"}));
  EXPECT_EQ(json["launch"]["block"], Json({"64", "((n > 4) ? 2 : 1)", "1"}));
  EXPECT_THAT(imported->guessed, Contains(HasSubstr("blocks = 1, which the host code computes")));
}

TEST(Import, AGuardedConstantIsAKnobToo) {
  const Json json = manifest_of(
      "#ifndef TILE\nconstexpr int TILE = 32;\n#endif\n__global__ void k(float* x, int n) {}\n"
      "int main() { const int bytes = 2 * TILE * sizeof(float); k<<<1, TILE, bytes>>>(p, 4); }");
  EXPECT_EQ(json["knobs"][0]["name"], "TILE");
  EXPECT_EQ(json["launch"]["block"][0], "TILE");
  EXPECT_EQ(json["launch"]["dynamic_shared"], "2 * TILE * 4");
}

TEST(Import, AKernelWithinAnIfdefDefinesTheMacro) {
  const Json json = manifest_of(
      "#ifdef USE_WMMA\n#if defined(FAST)\n__global__ void k(float* x, int n) {}\n#endif\n#endif\n"
      "#ifdef __CUDACC__\n#endif\n");
  ASSERT_EQ(json["knobs"].size(), 2u);
  EXPECT_EQ(json["knobs"][0]["name"], "USE_WMMA");
  EXPECT_EQ(json["knobs"][1]["values"], Json::array({1}));
  EXPECT_EQ(manifest_of("#ifdef A\n#else\n__global__ void k(float* x) {}\n#endif\n")["knobs"].size(), 0u);
}

TEST(Import, CutlassHeadersAreDeclared) {
  EXPECT_EQ(manifest_of("#include <cute/tensor.hpp>\n__global__ void k(float* x) {}")["headers"],
            Json::array({"cutlass"}));
  EXPECT_FALSE(manifest_of("#include <cuda_fp16.h>\n__global__ void k(float* x) {}").contains("headers"));
}

TEST(Import, TwoKernelsOfAFileCanHaveTheirOwnIds) {
  const std::string source = "template <int N> __global__ void a(float* x) {}\n__global__ void b(float* x) {}\n";
  const auto first = import_kernel("k.cu", source, "a<2>");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->id, "k");
  EXPECT_EQ(id_with_entry(*first), "k_a");
  EXPECT_EQ(import_kernel("k.cu", source, "b", "k_b")->id, "k_b");
}

TEST(Import, AMacroThatMayBeSetIsAKnobWithItsNeighbours) {
  std::string source;
  for (const char* macro : {"OFF 0", "ON 1", "STAGES 2", "WARPS 8", "ODD 6", "NEGATIVE (-1)", "_HIDDEN 4", "lower 4"}) {
    const std::string line = macro, name = line.substr(0, line.find(' '));
    source += "#ifndef " + name + "\n#define " + line + "\n#endif\n";
  }
  const Json json = manifest_of(source + "__global__ void k(float* x) {}\n");
  std::map<std::string, Json> knobs;
  for (const Json& knob : json["knobs"]) knobs[knob["name"]] = knob["values"];
  EXPECT_EQ(
      knobs,
      (std::map<std::string, Json>{
          {"OFF", {0, 1}}, {"ON", {0, 1}}, {"STAGES", {1, 2, 4}}, {"WARPS", {4, 8, 16}}, {"ODD", Json::array({6})}}));
}

TEST(Import, FollowsAliasesTemplatesAndNamespaces) {
  const std::string source = R"(namespace lib {
using scalar = __half;
typedef struct { int rows; float eps; } Shape;
template <typename T, int WIDTH>
__global__ void __launch_bounds__(WIDTH * 1) norm(const T* x, scalar* y, Shape shape, long long n) {}
}
)";
  const Json json = manifest_of(source, "norm<float, 128>");
  EXPECT_EQ(json["entry"], "lib::norm<float, 128>");
  EXPECT_EQ(json["buffers"][0]["dtype"], "f32");
  EXPECT_EQ(json["buffers"][1]["dtype"], "f16");
  EXPECT_EQ(json["args"][2]["struct"][1]["type"], "f32");
  EXPECT_THAT(manifest_of(source).get<std::string>(), HasSubstr("is a template"));
  EXPECT_THAT(manifest_of(source, "gone").get<std::string>(), HasSubstr("has no kernel gone"));
}

// A default that is computed from earlier parameters: only the compiler can compute it.
TEST(Import, ADefaultOfOtherParametersIsLeftToTheCompiler) {
  const std::string source =
      "template <typename T, typename = std::enable_if_t<std::is_floating_point_v<T>>>\n"
      "__global__ void scale(T* x, int n) {}\n"
      "void run(float* x) { scale<float><<<1, 32>>>(x, 4); }\n";
  EXPECT_EQ(manifest_of(source)["entry"], "scale<float>");
  EXPECT_EQ(manifest_of(source, "scale<double>")["entry"], "scale<double>");
}

// A template that is launched from another template or from a macro, or whose launch is in another file.
TEST(Import, ATemplatesDefaultsServeWhereNoLaunchSaysMore) {
  const std::string defaults =
      "template <const int THREADS = 256, typename T = float>\n"
      "__global__ void norm(T* x, int n) {}\n";
  EXPECT_EQ(manifest_of(defaults)["entry"], "norm<256, float>");
  EXPECT_EQ(manifest_of("#define LAUNCH(K) norm<(K)><<<grid, block>>>(x, n);\n" + defaults)["entry"],
            "norm<256, float>");
  EXPECT_EQ(manifest_of("#define LAUNCH(T) scale<128, T><<<grid, block>>>(x, n);\n"
                        "template <int THREADS, class T = __half> __global__ void scale(T* x, int n) {}")["entry"],
            "scale<128, __half>");
  EXPECT_EQ(manifest_of("#define LAUNCH(K) row<(K) / 4><<<grid, (K) / 4>>>(x, n);\n"
                        "template <const int THREADS = 256 / 4> __global__ void row(float* x, int n) {}")["entry"],
            "row<64>");
  const std::string instances =
      "constexpr int kWide = 64 * 2;\n"
      "template <int BM, int BN> __global__ void gemm(float* c, int n) {}\n";
  EXPECT_EQ(manifest_of(instances + "void f() { gemm<kWide, kWide / 4><<<n, 32>>>(c, n); }")["entry"], "gemm<128, 32>");
  EXPECT_EQ(manifest_of("template <class T> __global__ void k(T* x, int n) {}\n"
                        "template <class T> void run(T* x) { k<T><<<1, 32>>>(x, 4); }")["entry"],
            "k<float>");
  EXPECT_EQ(manifest_of("template <class T> __global__ void k(T* x, int n) {}\n"
                        "void run(float* x) { k<<<1, 32>>>(x, 4); }")["entry"],
            "k<float>");
  const auto refused =
      import_kernel("k.cu", instances + "template <int W> void f() { gemm<W, W><<<n, 32>>>(c, n); }", "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "gemm is a template of <int BM, int BN>, and its launch depends on the code around it");
  EXPECT_THAT(refused.error().hint, HasSubstr("gemm<64, 64>\"."));
}

// PyTorch's macros define scalar_t; a kernel whose launch is in another file has none.
TEST(Import, ATypeThatTheSourceDoesNotDeclareIsGuessed) {
  const std::string kernel = "template <typename T> __global__ void k(T* x, int n) {}\n";
  const auto macro = import_kernel(
      "k.cu", kernel + "void run(float* x) { AT_DISPATCH(t, [&] { k<scalar_t><<<1, 32>>>(x, 4); }); }\n", "");
  ASSERT_TRUE(macro) << macro.error().message;
  EXPECT_EQ(macro->entry, "k<float>");
  EXPECT_THAT(macro->guessed, Contains(HasSubstr("its launch says <scalar_t>")));
  const auto alone = import_kernel("k.cu", kernel, "");
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_EQ(alone->entry, "k<float>");
  EXPECT_THAT(alone->guessed, Contains(HasSubstr("no launch says them")));
  const std::string declared = "class Pair { public: int a, b; };\n";
  EXPECT_EQ(import_kernel("k.cu", declared + kernel + "void run(Pair* x) { k<Pair><<<1, 32>>>(x, 4); }\n", "")->entry,
            "k<Pair>");
  // A parameter that is called, and is not a pointer, is not a number either.
  const auto functor =
      import_kernel("k.cu", "template <typename F> __global__ void k(float* x, F f) { x[0] = f(1); }\n", "");
  ASSERT_FALSE(functor);
  EXPECT_THAT(functor.error().message, HasSubstr("is a template of <typename F>"));
  EXPECT_THAT(functor.error().hint, HasSubstr("\"k<F>\", with types or values where that has the parameters' names."));
}

// Each function has its own constants; the constants of the launch's function count.
TEST(Import, ConstantsAreThoseOfTheLaunchsFunction) {
  const std::string source =
      "template <int B> __global__ void first(float* x, int n) {}\n"
      "template <int B> __global__ void second(float* x, int n) {}\n"
      "void f() { constexpr int B = 32; dim3 block(B, 2); first<B><<<1, block>>>(x, n); }\n"
      "void g() { constexpr int B = 128; dim3 block(B); second<B><<<1, block>>>(x, n); }\n";
  EXPECT_EQ(manifest_of(source, "first")["entry"], "first<32>");
  EXPECT_EQ(manifest_of(source, "first")["launch"]["block"], Json({"32", "2", "1"}));
  EXPECT_EQ(manifest_of(source, "second")["entry"], "second<128>");
  EXPECT_EQ(manifest_of(source, "second")["launch"]["block"], Json({"128", "1", "1"}));
}

TEST(Import, WhatAParameterPointsToIsABufferWhateverItsType) {
  const Json json = manifest_of(
      "struct Matrix { int rows, stride; float* elements; };\n"
      "__global__ void k(Matrix m, void* raw, uchar4 colour, short bias, int8_t* codes, int n) {}");
  EXPECT_EQ(json["buffers"][0]["name"], "m_elements");
  EXPECT_EQ(json["buffers"][1]["dtype"], "f32");
  EXPECT_EQ(json["buffers"][2]["dtype"], "i8");
  EXPECT_EQ(json["args"][0]["struct"].size(), 3u);
  EXPECT_EQ(json["args"][0]["struct"][2], "m_elements");
  EXPECT_EQ(json["args"][2]["struct"].size(), 4u);
  EXPECT_EQ(json["args"][3]["type"], "i16");
  EXPECT_EQ(json["args"].size(), 6u);
  const Json launched = manifest_of(
      "struct Matrix { int rows; float* elements; };\n__global__ void k(Matrix m, float* y) {}\n"
      "int main() { Matrix a; float* y; cudaMalloc(&y, 64 * sizeof(float)); k<<<1, 32>>>(a, y); }");
  EXPECT_EQ(launched["buffers"][0]["name"], "m_elements");
  EXPECT_EQ(launched["buffers"][1]["shape"], Json::array({"64"}));
}

TEST(Import, AStructsArraysAreAsManyMembers) {
  const auto imported = import_kernel("k.cu",
                                      "struct Info { int sizes[3], strides[2][2]; float* rows; int dims; };\n"
                                      "__global__ void k(Info info, float* y) { y[0] = info.sizes[0]; }\n"
                                      "int main() { Info a{{1, 2, 3}, {}, nullptr, 7}; k<<<1, 32>>>(a, 0); }",
                                      "");
  ASSERT_TRUE(imported) << imported.error().message;
  const Json json = *parse_json(imported->manifest, "k.json");
  EXPECT_EQ(json["args"][0]["struct"].size(), 3u + 4u + 1u + 1u);
  EXPECT_EQ(json["args"][0]["struct"][7], "info_rows");
  EXPECT_THAT(imported->guessed, Contains(HasSubstr("sizes[0], sizes[1], sizes[2], strides[0]")));
  EXPECT_THAT(imported->guessed, Contains("the size info_dims = 1024")) << "braces are not followed";
  const auto refused = [](const std::string& member) {
    return !import_kernel("k.cu", "struct Info { " + member + " };\n__global__ void k(Info info, float* y) {}", "");
  };
  EXPECT_TRUE(refused("int sizes[N];"));
  EXPECT_TRUE(refused("int sizes[0];"));
  EXPECT_TRUE(refused("float* rows[2];"));
  EXPECT_TRUE(refused("int sizes[1000];"));
  EXPECT_TRUE(refused("int sizes[200], strides[200];"));
  EXPECT_TRUE(refused("int sizes[3;"));
}

// A launch's argument says of which struct the template is.
TEST(Import, ATemplatesTypeIsThatOfTheObjectThatTheLaunchHandsOn) {
  const std::string source =
      "template <typename T> struct Scale { float by; const T* shift;\n"
      "  Scale(float b, const T* s) : by(b), shift(s) {}\n"
      "  __device__ T operator()(T x, int i) const { return x * by + shift[i]; } };\n"
      "template <int N, typename F, typename T> __global__ void k(F f, T* x, T* y) { y[0] = f(x[0], 0); }\n";
  const Json json =
      manifest_of(source + "int main() { float* p; float* q; Scale<float> f(0.5f, p); k<4><<<1, 32>>>(f, p, q); }");
  EXPECT_EQ(json["entry"], "k<4, Scale<float>, float>");
  EXPECT_EQ(json["args"][0]["struct"].size(), 2u);
  EXPECT_EQ(json["args"][0]["struct"][1], "f_shift");
  const auto twin = import_kernel(
      "k.cu",
      source +
          "template <int N, typename F, typename T> __global__ void next(F f, T* x, T* y) { y[0] = f(x[0], 0); }\n"
          "int main() { float* p; Scale<float> f(0.5f, p); k<4><<<1, 32>>>(f, p, p); }",
      "next");
  ASSERT_TRUE(twin) << twin.error().message;
  EXPECT_EQ(twin->entry, "next<4, Scale<float>, float>");
  EXPECT_THAT(twin->guessed, Contains(HasSubstr("since those of k are so at its launch")));
  EXPECT_THAT(twin->guessed, Contains(StartsWith("the block: "))) << "its launch is another's";
  const Json other = manifest_of(source + "int main() { float f = 1; float* p; k<4><<<1, 32>>>(f, p, p); }");
  EXPECT_EQ(other["entry"], "k<4, float, float>");
}

TEST(Import, ATemplatesTypesAreThoseOfWhatTheLaunchMakesAndOfAVector) {
  const auto imported = import_kernel(
      "k.cu",
      "namespace kernels {\ntemplate <typename T, typename Op>\n"
      "__global__ void transform(const T* in, T* out, size_t n, Op op) { out[threadIdx.x] = op(in[n]); }\n"
      "struct Square { __device__ double operator()(double v) const { return v * v; } };\n}\n"
      "int main() { const size_t n = 5000; thrust::device_vector<double> in(n), out(n);\n"
      "  kernels::transform<<<16, 128>>>(thrust::raw_pointer_cast(in.data()), thrust::raw_pointer_cast(&out[0]), n,\n"
      "                                  kernels::Square{}); }\n",
      "");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->entry, "kernels::transform<double, kernels::Square>");
  EXPECT_THAT(imported->guessed, Not(Contains(StartsWith(kTemplateSaid))));
}

TEST(Import, DefaultsThatNoArgumentCouldReplaceAreNoGuess) {
  const std::string kernel = "template <int M = 64, int N = M / 2> __global__ void k(float* x, int n) { x[n] = M; }\n";
  const auto guesses = [](const std::string& source) {
    const auto imported = import_kernel("k.cu", source, "");
    return imported ? imported->guessed : std::vector<std::string>{imported.error().message};
  };
  for (const char* launch : {"k<><<<1, 32>>>(x, 4);", "k<<<1, 32>>>(x, 4);"})
    EXPECT_THAT(guesses(kernel + "void run(float* x) { " + launch + " }"), Not(Contains(StartsWith(kTemplateSaid))));
  EXPECT_THAT(guesses(kernel), Contains(StartsWith(kTemplateSaid))) << "nothing launches it";
  // The launch's pointer says another type than the default.
  EXPECT_THAT(guesses("template <typename T = float> __global__ void k(T* x, int n) { x[n] = 1; }\n"
                      "void run(Tensor x) { k<<<1, 32>>>(get(x), 4); }"),
              Contains(StartsWith(kTemplateSaid)));
}

// Their contents are bytes, whatever their members are.
TEST(Import, APointerToAClassIsABufferOfBytes) {
  const auto imported = import_kernel(
      "k.cu", "struct Node { int next; float weight[3]; };\n__global__ void k(Node* nodes, Other* more, int n) {}", "");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(imported->guessed, Contains(HasSubstr("nodes: an array of structs, given as 64 bytes each")));
  EXPECT_THAT(imported->guessed, Contains(HasSubstr("more: an array of structs")));
  const Json allocated = manifest_of(
      "typedef int Row[16];\n__global__ void k(Row* rows, int n) {}\n"
      "int main() { int n = 100; Row* rows; cudaMalloc(&rows, n * 16 * 4); k<<<1, 32>>>(rows, n); }\n");
  EXPECT_EQ(allocated["buffers"][0]["dtype"], "u8");
  EXPECT_EQ(allocated["buffers"][0]["shape"], Json({"n", "16", "4"}));
  const Json aligned = manifest_of(
      "struct __align__(8) Pair { float a, b; };\n__global__ void k(Pair* pairs, int n) { pairs[0].a = 1; }");
  EXPECT_EQ(aligned["buffers"][0]["dtype"], "f32");
  EXPECT_EQ(aligned["buffers"][0]["shape"].back(), "2");
  EXPECT_EQ(manifest_of("__global__ void k(cufftComplex* x, int n) { x[0].x = 1; }")["buffers"][0]["dtype"], "f32");
}

TEST(Import, WhatStandsBeforeAKernelsNameIsNotItsName) {
  for (const char* attribute : {"__cluster_dims__(2, 1, 1) ", "__launch_bounds__((64 * 2)) ", "__maxnreg__(64) "}) {
    const Json json = manifest_of(fmt::format("__global__ {0}void first(float* x, int n) {{}}\n"
                                              "__global__ void {0}second(float* x, int n) {{}}\n",
                                              attribute),
                                  "second");
    EXPECT_EQ(json["entry"], "second") << attribute;
  }
}

// Each is the same name in the host code, so one's formula is also the next one's.
TEST(Import, SizesThatFollowEachOtherEndAtTheLast) {
  const Json json = manifest_of(
      "__global__ void k(const float* x, int sx, float* y, int sy, float* z, int sz, int columns) {}\n"
      "int main() { int columns = 64; k<<<8, 32>>>(x, columns, y, columns, z, columns, columns); }\n");
  EXPECT_EQ(json["args"][1]["value"], "columns");
  EXPECT_EQ(json["args"][3]["value"], "columns");
  EXPECT_EQ(json["args"][5]["value"], "columns");
  EXPECT_EQ(json["sizes"], Json({{"columns", 64}}));
}

TEST(Import, AnIdHasNoNumberInFront) {
  EXPECT_EQ(id_of("13_1_streams.cu"), "streams");
  EXPECT_EQ(id_of("02_tiled.cu"), "tiled");
}

TEST(Import, AMacrosLaunchIsRead) {
  const Json json =
      manifest_of("#define RUN(B) \\\n  add<<<CEIL_DIV(n, B), 128>>>(x, n);\n__global__ void add(float* x, int n) {}");
  EXPECT_EQ(json["launch"]["block"], Json({"128", "1", "1"}));
}

TEST(Import, AKernelThatIsOnlyDeclaredIsNone) {
  const auto refused = import_kernel("main.cu", "__global__ void k(float* x);\nint main() { k<<<1, 1>>>(p); }", "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "main.cu declares k and does not define it");
  // A declaration may leave the names out.
  EXPECT_EQ(manifest_of("__global__ void k(float*);\n__global__ void k(float* x) {}")["args"], Json({"x"}));
}

TEST(Import, ALongInstanceHasAShortTitle) {
  std::string names, values;
  for (int i = 0; i < 40; ++i) {
    names += fmt::format("{}int kParameter{}", i ? ", " : "", i);
    values += (i ? ", " : "") + std::to_string(1000 + i);
  }
  const Json json = manifest_of("template <" + names + "> __global__ void k(float* x) {}", "k<" + values + ">");
  EXPECT_EQ(json["title"], "k of k.cu");
  EXPECT_EQ(json["entry"], "k<" + values + ">");
}

TEST(Import, NamesAFileAsManifestsDo) {
  EXPECT_EQ(source_file_name("my kernel+v2.cu"), "my_kernel_v2.cu");
  EXPECT_EQ(source_file_name("tiled.cuh"), "tiled.cuh");
  EXPECT_EQ(source_file_name(".cu"), "_.cu");
  EXPECT_EQ(source_file_name(std::string(300, 'a') + ".cu"), std::string(97, 'a') + ".cu");
}

TEST(Import, TakesTheKernelThatIsLaunchedAndNamesTheOthers) {
  const std::string source =
      "__global__ void first(int* p) {}\n__global__ void second(int* p) {}\nvoid go() { second<<<1, 32>>>(nullptr); "
      "}\n";
  const auto imported = import_kernel("k.cu", source, "");
  ASSERT_TRUE(imported);
  EXPECT_EQ(imported->entry, "second");
  EXPECT_THAT(imported->others, Contains("first"));
  EXPECT_EQ(manifest_of(source, "first")["entry"], "first");
}

TEST(Import, RefusesWhatCannotBePassed) {
  EXPECT_THAT(manifest_of("__global__ void k(cudaTextureObject_t t, int* p) {}").get<std::string>(),
              HasSubstr("cannot be passed"));
  EXPECT_THAT(manifest_of("int main() {}").get<std::string>(), HasSubstr("has no kernel"));
  EXPECT_THAT(manifest_of("__global__ void k\xff(int* p) {}").get<std::string>(), HasSubstr("UTF-8"));
}

// The kernel may print or assert: it runs, and there is nothing to judge.
TEST(Import, AKernelWithoutAnOutputRunsToo) {
  const Json json = manifest_of("__global__ void k(const int* p, int n) {}\nint main() { k<<<2, 32>>>(0, 40); }\n");
  EXPECT_EQ(of_buffers(json, "role"), Json({{"p", "in"}, {"nothing", "inout"}}));
  EXPECT_EQ(json["args"], Json({"p", "n"}));
  EXPECT_EQ(json["launch"]["grid"], Json({"2", "1", "1"}));
  const auto imported = import_kernel("k.cu", "__global__ void k(int nothing) {}", "");
  EXPECT_THAT(imported->guessed, Contains(HasSubstr("nothing_ stands in for an output")));
}

// The kernel's n is the host code's n * width there.
TEST(Import, ANameThatIsPassedScaledIsAnother) {
  const std::string source = R"(__global__ void k(float* x, int n) {}
void run(float* x, int n, int width) {
  const int blocks = (n * width + 127) / 128;
  k<<<blocks, 128>>>(x, n * width);
}
int main() { int n = 32; run(0, n, 96); }
)";
  const auto imported = import_kernel("k.cu", source, "");
  const Json json = *parse_json(imported->manifest, "manifest");
  EXPECT_EQ(json["sizes"]["n"], 32 * 96);
  EXPECT_EQ(json["launch"]["grid"][0], "ceil_div(n, 128)");
  const std::string product = "(n * width + 127) / 128";
  std::string other = source;
  other.replace(other.find(product), product.size(), "(n + 127) / 4");
  EXPECT_EQ(manifest_of(other)["launch"]["grid"][0], "39");
}

// A benchmark's buffers are gigabytes: a first run takes fewer rows of the same width.
TEST(Import, SizesThatTakeGigabytesAreHalved) {
  const auto of = [](const char* rows) {
    return fmt::format(R"(__global__ void k(const float* x, float* y, int rows, int width) {{}}
int main() {{
  int rows = {}, width = 50257;
  float *x, *y;
  cudaMalloc(&x, rows * width * sizeof(float));
  cudaMalloc(&y, rows * sizeof(float));
  k<<<rows, 256>>>(x, y, rows, width);
}}
)",
                       rows);
  };
  EXPECT_EQ(manifest_of(of("8192"))["sizes"], Json({{"rows", 2048}, {"width", 50257}}));
  EXPECT_EQ(manifest_of(of("2048"))["sizes"]["rows"], 2048);
  const auto imported = import_kernel("k.cu", of("8192"), "");
  EXPECT_THAT(imported->guessed, Contains(HasSubstr("rows = 2048 to begin with")));
  EXPECT_THAT(imported->guessed, Contains(HasSubstr("--problem rows=8192 sets it back")));
  // A grid that does not follow the sizes would index past the smaller buffers.
  EXPECT_EQ(manifest_of("__global__ void k(float* x, int n) {}\nint main() { int n = 1 << 28; float* x;\n"
                        "cudaMalloc(&x, n * 4); k<<<1024, 256>>>(x, n); }\n")["sizes"]["n"],
            1 << 28);
}

TEST(Import, SharedMemoryThatAFunctionComputesIsMuch) {
  const auto launched = [](const char* shared) {
    return import_kernel(
        "k.cu",
        fmt::format("__global__ void k(float* x, int n) {{ extern __shared__ float s[]; s[n] = x[n]; }}\n"
                    "void f(float* x, int n) {{ static size_t bytes = most(); int threads = most();\n"
                    "  k<<<1, 128, {}>>>(x, n); }}\n",
                    shared),
        "");
  };
  EXPECT_THAT(launched("bytes")->guessed,
              Contains("dynamic shared memory: 98304 bytes (with bytes = 98304, which the host code computes)"));
  EXPECT_THAT(launched("threads * 4")->guessed,
              Contains(HasSubstr("with threads = 256, which the host code computes")));
}

// More than any problem may take, and more shared memory than a CTA has.
TEST(Import, SizesThatWouldNotLoadOrFitAreHalved) {
  const Json large = manifest_of(
      "__global__ void k(const float* x, float* y, int a, int b, int c) {}\n"
      "void run(int a, int b, int c) { float *x, *y; cudaMalloc(&x, a * b * c * 4); cudaMalloc(&y, a * b * c * 4);\n"
      "  k<<<dim3((a + 15) / 16, (b + 15) / 16), dim3(16, 16)>>>(x, y, a, b, c); }\n");
  ASSERT_TRUE(large.is_object()) << large;
  EXPECT_LE(
      large["sizes"]["a"].get<int64_t>() * large["sizes"]["b"].get<int64_t>() * large["sizes"]["c"].get<int64_t>() * 8,
      int64_t{512} << 20);
  const auto shared = import_kernel("k.cu",
                                    "__global__ void k(float* x, int n) { extern __shared__ float s[]; x[0] = s[0]; }\n"
                                    "int main() { int n = 65536; k<<<4, 128, n * sizeof(float)>>>(x, n); }\n",
                                    "");
  ASSERT_TRUE(shared) << shared.error().message;
  EXPECT_THAT(shared->guessed, Contains(HasSubstr("n = 16384 to begin with, so that a CTA's shared memory takes")));
}

// Rounded up by a mask, as for rows that are padded.
TEST(Import, ASizeThatIsPaddedByAMaskFollowsTheOther) {
  const Json json = manifest_of(R"(__global__ void k(float* x, int rows, int width, int padded) {}
int main() {
  int rows = 8, width = 100, padded = (width + 63) & ~63;
  k<<<rows, 64>>>(0, rows, width, padded);
}
)");
  EXPECT_EQ(json["sizes"], Json({{"rows", 8}, {"width", 100}}));
  EXPECT_EQ(json["args"][3]["value"], "ceil_div(width, 64) * 64");
}

TEST(Import, WithoutALaunchTheBlockHasTheAxesThatTheKernelUses) {
  const std::string uses =
      "__device__ int row() { return threadIdx.y; }\ntemplate <int N> __device__ int place() { return N * row(); }\n";
  const auto block_of = [&](const std::string& kernel) { return manifest_of(uses + kernel)["launch"]["block"]; };
  EXPECT_EQ(block_of("__global__ void k(float* x, int n) { x[threadIdx.x] = 1; }"), Json({"256", "1", "1"}));
  EXPECT_EQ(block_of("__global__ void k(float* x, int n) { x[threadIdx.y] = 1; }"), Json({"16", "16", "1"}));
  EXPECT_EQ(block_of("__global__ void k(float* x, int n) { x[place<4>()] = 1; }"), Json({"16", "16", "1"}));
  EXPECT_EQ(block_of("__global__ void k(float* x, int n) { if (n) k(x, n - 1); }"), Json({"256", "1", "1"}));
}

// The manifest in docs/writing-a-kernel.md, word for word.
TEST(Import, TheDocumentedManifestLoads) {
  const auto text_of = [](const std::filesystem::path& path) {
    std::ifstream file(source_dir() / path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string page = text_of("docs/writing-a-kernel.md");
  const size_t start = page.find("```json", page.find("## Other problems")) + 8;
  const auto kernel = parse_kernel({"saxpy.json", page.substr(start, page.find("```", start) - start), "saxpy.cu",
                                    text_of("tests/kernels/plain/saxpy.cu")});
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(kernel->references[0].kind, ReferenceKind::saxpy);
  // The reader knows every reference and buffer word of the tables.
  for (const char* kind : {"`each`",       "`copy`",       "`relu`",      "`gelu`",    "`silu`",      "`scale`",
                           "`add`",        "`mul`",        "`saxpy`",     "`gemm`",    "`gemm_nt`",   "`gemm_tn`",
                           "`attention`",  "`reduce_min`", "`transpose`", "`softmax`", "`layernorm`", "`rmsnorm`",
                           "`reduce_sum`", "`reduce_max`", "`scan`",      "`sort`",    "`histogram`"})
    EXPECT_THAT(page, HasSubstr(kind));
}

Result<Workload> workload_with(const Json& change) {
  Json json =
      *parse_json(R"({"id": "k", "title": "k", "source": "k.cu", "entry": "k", "problem": "custom", "sizes": {"n": 8},
      "buffers": [{"name": "out", "role": "out", "dtype": "f32", "shape": ["n", 2]}],
      "launch": {"grid": [1, 1, 1], "block": [32, 1, 1]}, "args": ["out", "n"]})",
                  "k.json");
  json.merge_patch(change);
  const auto kernel = parse_kernel({"k.json", json.dump(), "k.cu", "__global__ void k() {}"});
  if (!kernel) return fail(kernel.error());
  return workload_of(*kernel, kernel->default_problem(), config_of(*kernel, {}));
}

template <class T>
T value_of(const std::string& type, const Json& value) {
  const auto workload = workload_with({{"args", {"out", {{"value", value}, {"type", type}}}}});
  EXPECT_TRUE(workload) << workload.error().message;
  T number{};
  if (workload && workload->arguments[1].bytes.size() == sizeof number)
    std::memcpy(&number, workload->arguments[1].bytes.data(), sizeof number);
  return number;
}

TEST(Workload, GivesValuesAsTheirTypesHaveThem) {
  EXPECT_EQ(value_of<float>("f32", "n / 16"), 0.5f);
  EXPECT_EQ(value_of<double>("f64", 0.1), 0.1);
  EXPECT_EQ(value_of<int32_t>("i32", -3), -3);
  EXPECT_EQ(value_of<uint16_t>("f16", 1), 0x3c00);
  EXPECT_EQ(value_of<uint16_t>("f16", -2.5), 0xc100);
  EXPECT_EQ(value_of<uint16_t>("f16", 2049), 0x6800);  // between 2048 and 2050: to even
  EXPECT_EQ(value_of<uint16_t>("f16", 65519), 0x7bff);
  EXPECT_EQ(value_of<uint16_t>("f16", 65520), 0x7c00);  // infinity
  EXPECT_EQ(value_of<uint16_t>("f16", 1e300), 0x7c00);
  EXPECT_EQ(value_of<uint16_t>("f16", 5.9604644775390625e-8), 1);  // the least subnormal
  EXPECT_EQ(value_of<uint16_t>("f16", 1e-9), 0);
  EXPECT_EQ(value_of<uint16_t>("bf16", 1), 0x3f80);
  EXPECT_EQ(value_of<uint16_t>("bf16", -1.004), 0xbf81);
  EXPECT_EQ(value_of<uint16_t>("bf16", 0), 0);
}

TEST(Workload, ABufferHoldsWhatItsInitSays) {
  const auto with = [](const Json& init, const char* role = "in") {
    const Json out{{"name", "out"}, {"role", "out"}, {"dtype", "f32"}, {"shape", {"n", 2}}};
    const Json extra{{"name", "x"}, {"role", role}, {"dtype", "f32"}, {"shape", {"n", 2}}, {"init", init}};
    return workload_with({{"buffers", {out, extra}}, {"args", {"out", "x", "n"}}});
  };
  for (const auto& [word, kind] : {std::pair{"random", BufferInit::Kind::random},
                                   {"zeros", BufferInit::Kind::zeros},
                                   {"ones", BufferInit::Kind::ones},
                                   {"iota", BufferInit::Kind::iota}}) {
    const auto made = with(word);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->operands[1].init, (BufferInit{kind, {}, {}})) << word;
    EXPECT_EQ(made->operands[1].shape, (std::vector<int64_t>{8, 2}));
  }
  EXPECT_EQ(with(nullptr)->operands[1].init.kind, BufferInit::Kind::random);
  EXPECT_EQ(with(nullptr, "workspace")->operands[1].init.kind, BufferInit::Kind::zeros);
  EXPECT_EQ(with({{"random", {-1, 2.5}}})->operands[1].init, (BufferInit{BufferInit::Kind::random, -1, 2.5}));
  EXPECT_TRUE(with({{"random", {3, 3}}}));
  EXPECT_EQ(with({{"fill", -1.5}})->operands[1].init.low, -1.5);
  EXPECT_EQ(with({{"fill", "-inf"}})->operands[1].init, (BufferInit{BufferInit::Kind::fill, -HUGE_VAL, {}}));
  EXPECT_TRUE(std::isnan(*with({{"fill", "nan"}})->operands[1].init.low));
  for (const Json& init :
       {Json{{"random", {3, 2}}}, Json{{"random", {1}}}, Json{{"random", {1, "2"}}}, Json{{"random", 1}},
        Json{{"ones", {1, 2}}}, Json{{"random", {1, 2}}, {"seed", 1}}, Json("twos"), Json(1), Json("fill"),
        Json{{"fill", "infinity"}}, Json{{"fill", nullptr}}, Json{{"fill", 1}, {"random", {1, 2}}}}) {
    const auto refused = with(init);
    ASSERT_FALSE(refused) << init;
    EXPECT_THAT(refused.error().message, HasSubstr("buffers/1/init")) << init;
  }
}

TEST(Workload, AnAddressMayBeWithinABuffer) {
  const auto address = [](const Json& offset) {
    return workload_with({{"args", {{{"buffer", "out"}, {"offset", offset}}, "n"}}});
  };
  const auto workload = address("n + 3");
  ASSERT_TRUE(workload) << workload.error().message;
  EXPECT_EQ(workload->arguments[0].operand, 0u);
  EXPECT_EQ(workload->arguments[0].offset, 44u) << "bytes of 11 floats";
  EXPECT_TRUE(address(16)) << "one past the end, as in C";
  EXPECT_THAT(address(17).error().message, HasSubstr("k.json/args/0/offset: element 17 of out, which has 16"));
  EXPECT_THAT(address("n - 9").error().message, HasSubstr("k.json/args/0/offset"));
  EXPECT_THAT(address("m").error().message, HasSubstr("k.json/args/0/offset"));
  EXPECT_THAT(workload_with({{"args", {{{"buffer", "in"}, {"offset", 0}}, "n"}}}).error().message,
              HasSubstr("k.json/args/0/buffer: \"in\" is not a buffer"));
  EXPECT_THAT(workload_with({{"args", {{{"buffer", "out"}}, "n"}}}).error().message, HasSubstr("offset"));
  const auto inside = workload_with({{"args", {{{"struct", {{{"buffer", "out"}, {"offset", "n"}}, "out"}}}, "n"}}});
  ASSERT_TRUE(inside) << inside.error().message;
  ASSERT_EQ(inside->arguments[0].addresses.size(), 2u);
  EXPECT_EQ(inside->arguments[0].addresses[0].offset, 32u);
  EXPECT_EQ(inside->arguments[0].addresses[1].offset, 0u);
}

TEST(Workload, RefusesWhatDoesNotFit) {
  const auto refusal = [](const Json& change) {
    const auto workload = workload_with(change);
    return workload ? "" : workload.error().message;
  };
  const auto argument = [](const char* type, const Json& value) {
    return Json{{"args", {"out", {{"value", value}, {"type", type}}}}};
  };
  EXPECT_THAT(refusal(argument("i32", 2147483648)), HasSubstr("does not fit"));
  EXPECT_THAT(refusal(argument("u8", -1)), HasSubstr("does not fit"));
  EXPECT_THAT(refusal(argument("i64", "1e19")), HasSubstr("does not fit"));
  EXPECT_THAT(refusal(argument("i32", 0.5)), HasSubstr("does not fit"));
  EXPECT_THAT(refusal({{"sizes", {{"n", 1099511627776}}}}), HasSubstr("4 GiB"));
  const std::string most = "9007199254740991";
  EXPECT_THAT(
      refusal({{"buffers", {{{"name", "out"}, {"role", "out"}, {"dtype", "f32"}, {"shape", {most, most, 0}}}}}}),
      HasSubstr("4 GiB"));
}

TEST(Workload, LaysAStructOutAsCDoes) {
  const auto workload = workload_with(
      {{"args",
        {"out",
         {{"struct",
           {{{"value", 1}, {"type", "u8"}}, {{"value", 2}, {"type", "f64"}}, {{"value", 3}, {"type", "f16"}}}}}}}});
  ASSERT_TRUE(workload) << workload.error().message;
  const auto& bytes = workload->arguments[1].bytes;
  ASSERT_EQ(bytes.size(), 24u);
  EXPECT_EQ(bytes[0], std::byte{1});
  EXPECT_EQ(bytes[15], std::byte{0x40});  // of 2.0
  EXPECT_EQ(bytes[17], std::byte{0x42});  // of 3.0
}

// Text that opens and never closes, in every construct that is read: the cost grows with its length. No time is
// compared: recursion would end the test, and a cost that grows with the square of the length shows in how long it
// runs, from seconds to no end. Brackets that close are longer, because each bracket may hold all those within it.
constexpr size_t kLong = testing_support::kSanitized ? 100'000 : 200'000;      // bytes
constexpr size_t kNested = testing_support::kSanitized ? 100'000 : 1'000'000;  // bytes

std::string repeated(const std::string& text, size_t bytes) {
  std::string all;
  while (all.size() < bytes) all += text;
  return all;
}

TEST(Import, OpeningsWithoutAnEndCostTheirLength) {
  const std::string kernel = "\n__global__ void k(float* x, int n) {}\nint main() { int n = 64; k<<<1, n>>>(0, n); }\n";
  for (const std::string text : {"template<",
                                 "template<a,",
                                 "__global__ ",
                                 "__global__ void __launch_bounds__(",
                                 "k<<<",
                                 "k<<<(",
                                 "> <<<",
                                 "dim3 ",
                                 "dim3 a(1) ",
                                 "typedef ",
                                 "typedef a ",
                                 "using a = ",
                                 "a = ",
                                 "a a=",
                                 "namespace ",
                                 "namespace a{",
                                 "namespace a{__global__ void k",
                                 "R\"",
                                 "#",
                                 "#/**/",
                                 "#define A ",
                                 "struct a{",
                                 "struct a{int x;",
                                 "(",
                                 "{",
                                 "[",
                                 "__global__ void k(",
                                 "__global__ void b(int a);"}) {
    const std::string source = kernel + repeated(text, kLong);
    const auto imported = import_kernel("k.cu", source, "k");
    if (imported) {
      EXPECT_EQ(imported->entry, "k") << text;
    }
  }
}

// The same for a kernel's body, from which the reader finds what the kernel does with its pointers.
TEST(Import, ABodyCostsItsLength) {
  for (const std::string text : {"a = ", "x[0] = ", "a = x[0] + b = ", "if (x[0]) ", "if (x[0]) {", "for (;x[0];) ",
                                 "if (x[0]) return; ", "else ", "(", "x[", "f(x[0]", "auto [a, ", "int a(x", "*x "}) {
    const std::string source =
        "__global__ void k(float* x, int n) {" + repeated(text, kLong / 6) + "}\nint main() { k<<<1, 32>>>(0, 1); }\n";
    const auto imported = import_kernel("k.cu", source, "k");
    if (imported) {
      EXPECT_EQ(imported->entry, "k") << text;
    }
  }
}

TEST(Import, NestingCostsItsLength) {
  using Pair = std::pair<std::string, std::string>;
  for (const auto& [open, close] :
       {Pair("template<", ">"), Pair("template<template<class a = b<c>,", ">>"), Pair("namespace a{", "}"),
        Pair("(", ")"), Pair("__global__ void __launch_bounds__(", ") k(float* x){}"), Pair("__global__ void k(", ")"),
        Pair("__global__ void k(\n#if 1\n", ")"), Pair("for (int a = 0; ", ")"), Pair("typedef struct {", "} a;"),
        Pair("struct a{", "};"), Pair("x<", "> y;")}) {
    const size_t half = kNested / 2;
    const std::string source = "__global__ void k(float* x, int n) {}\n" + repeated(open, half) +
                               repeated(close, half / open.size() * close.size());
    const auto imported = import_kernel("k.cu", source, "k");
    if (imported) {
      EXPECT_EQ(imported->entry, "k") << open;
    }
  }
}

TEST(Import, AnExpressionOfTheHostCodeIsReadAsDeepAsAPersonNestsIt) {
  const auto with_grid = [](const std::string& grid) {
    return manifest_of("__global__ void k(float* x, int n) {}\nint main() { int n = 123456789; k<<<" + grid +
                       ", 32>>>(0, n); }\n")["launch"]["grid"][0];
  };
  EXPECT_EQ(with_grid(std::string(40, '(') + "n" + std::string(40, ')')), "n");
  const std::string guessed = "ceil_div(n, 32)";
  for (const char* open : {"(", "max(1, ", "ceil(", "static_cast<int>("})
    EXPECT_EQ(with_grid(repeated(open, 5000 * strlen(open)) + "n" + std::string(5000, ')')), guessed) << open;
  for (const char* sign : {"-", "+", "(int)"}) EXPECT_EQ(with_grid(repeated(sign, 5000) + "n"), guessed) << sign;
  EXPECT_EQ(with_grid("n" + repeated("/3", 6000)), guessed);
  EXPECT_EQ(with_grid(std::string(90, '(') + "n" + repeated("/3+1)", 450)), guessed);  // each doubles the text
}

TEST(Import, NamesThatStandForManyNamesEnd) {
  std::string source = "__global__ void k(float* x, int n) {}\nconst int a30 = 1;\n";
  for (int i = 0; i < 30; ++i)
    source += fmt::format("const int a{} = a{}", i, i + 1) + repeated(fmt::format(" + a{}", i + 1), 100) + ";\n";
  EXPECT_EQ(manifest_of(source + "int main() { k<<<a0, 32>>>(0, 1); }\n")["launch"]["grid"][0], "ceil_div(n, 32)");
}

TEST(Import, OfManyKernelsItsListIsShort) {
  std::string source;
  for (int i = 0; i < 20000; ++i) source += fmt::format("__global__ void k{0}(float* x, int n) {{}} ", i);
  for (int i = 0; i < 20000; ++i) source += fmt::format("k{}<<<1, 1>>>(0); ", i);
  EXPECT_EQ(import_kernel("k.cu", source, "k19999")->entry, "k19999");
  const auto none = import_kernel("k.cu", source, "nothing");
  ASSERT_FALSE(none);
  EXPECT_LT(none.error().hint.size(), 300u);
}

TEST(Import, ATitleThatIsCutWithinACharacterIsStillText) {
  std::string name(119, 'k');
  name += "é";
  EXPECT_TRUE(import_kernel("k.cu", "__global__ void " + name + "(float* x, int n) {}\n", ""));
}

TEST(Import, AByteOrderMarkIsNoPartOfTheFirstLine) {
  const Json json = manifest_of(
      "\xEF\xBB\xBF#define N 48\n__global__ void k(float* x, int n) {}\nint main() { k<<<N, 32>>>(0, 1); }\n");
  EXPECT_EQ(json["launch"]["grid"][0], "48");
}

// The ways of launching a kernel that do not name it before <<<.
TEST(Import, AKernelIsLaunchedUnderAnotherName) {
  const std::string kernel = "template <int B, int W> __global__ void tiled(float* x, int n) { x[n] = B * W; }\n";
  const auto launched = [&](const std::string& host) { return import_kernel("k.cu", kernel + host, "tiled"); };
  for (const std::string& host : {
           std::string("void f(float* x) { auto k = tiled<8, 4>; k<<<16, 128>>>(x, 7); }\n"),
           std::string("void f(float* x) { auto* k = &tiled<8, 4>; k<<<16, 128>>>(x, 7); }\n"),
           std::string("template <class K, class... A> void launch(K k, dim3 g, int b, A... a) { k<<<g, b>>>(a...); }\n"
                       "void f(float* x) { auto k = tiled<8, 4>; launch(k, 16, 128, x, 7); }\n"),
           std::string("void launch(void (*k)(float*, int), int g, int b, float* x, int n) { k<<<g, b>>>(x, n); }\n"
                       "void f(float* x) { launch(tiled<8, 4>, 16, 128, x, 7); }\n"),
           std::string("template <int B> void launch(float* x) { tiled<B, 4><<<16, 128>>>(x, 7); }\n"
                       "void f(float* x, int b) { switch (b) { case 8: launch<8>(x); break; } }\n"),
       }) {
    const auto imported = launched(host);
    ASSERT_TRUE(imported) << imported.error().message << "\n" << host;
    EXPECT_EQ(imported->entry, "tiled<8, 4>") << host;
    EXPECT_TRUE(imported->launched);
    EXPECT_THAT(imported->read, Contains("n is 7 in the host code")) << host;
    EXPECT_THAT(imported->read, Contains("the grid: 16 x 1 x 1 CTAs")) << host;
    EXPECT_THAT(imported->read, Contains("the block: 128 x 1 x 1 threads")) << host;
    EXPECT_THAT(imported->guessed, testing::Not(Contains(HasSubstr("template"))));
  }
  const auto runtime =
      launched("void f(void** a) { cudaLaunchKernel((void*)tiled<8, 4>, dim3(2), dim3(64), a, 0, 0); }\n");
  ASSERT_TRUE(runtime) << runtime.error().message;
  EXPECT_EQ(runtime->entry, "tiled<8, 4>");
  EXPECT_THAT(runtime->read, Contains("the block: 64 x 1 x 1 threads"));
  const auto other = launched("void f(float* x) { auto k = other<8, 4>; k<<<16, 128>>>(x, 7); }\n");
  EXPECT_FALSE(other);
}

TEST(Import, AnInstanceThatTheSourceAsksForHasTheTemplatesArguments) {
  const auto imported = import_kernel(
      "k.cu", "template <int B> __global__ void k(float* x) { x[0] = B; }\ntemplate __global__ void k<48>(float* x);\n",
      "k");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->entry, "k<48>");
}

TEST(Import, ATemplatesNumbersAreGuessedOnlyWhenAsked) {
  const std::string source =
      "template <int BK, int STAGES, bool B, Number T>\n__global__ void k(T* x) { x[0] = BK * STAGES; }\n";
  EXPECT_FALSE(import_kernel("k.cu", source, "k"));
  const auto by_name = import_kernel("k.cu", source, "k", "", "", "", 0);
  ASSERT_TRUE(by_name) << by_name.error().message;
  EXPECT_EQ(by_name->entry, "k<16, 2, false, float>");
  EXPECT_THAT(by_name->guessed, Contains("the template's arguments: <16, 2, false, float>, since no launch says them"));
  EXPECT_EQ(import_kernel("k.cu", source, "k", "", "", "", 1)->entry, "k<32, 32, false, unsigned char>");
  const auto said = import_kernel("k.cu", source + "template void k<8, 3, true, short>(short*);\n", "k", "", "", "", 0);
  EXPECT_EQ(said->entry, "k<8, 3, true, short>");
}

// A name that only the code around the launch explains is no argument.
TEST(Import, ATemplatesNumberThatIsAnUnknownNameIsOpen) {
  const std::string kernel = "template <int D, bool V> __global__ void k(float* x) { x[D] = V; }\n";
  for (const char* said : {"kHeadDim, true", "64, b1.value"}) {
    const std::string source = kernel + "void f(float* x) { k<" + said + "><<<1, 32>>>(x); }\n";
    EXPECT_FALSE(import_kernel("k.cu", source, "k")) << said;
    const auto guessed = import_kernel("k.cu", source, "k", "", "", "", 0);
    ASSERT_TRUE(guessed) << said;
    EXPECT_THAT(guessed->guessed,
                Contains("the template's arguments: <" + guessed->entry.substr(2, guessed->entry.size() - 3) +
                         ">, since its launch says <" + said + ">"));
  }
  EXPECT_EQ(import_kernel("k.cu", "#define D0 16\n" + kernel + "void f(float* x) { k<D0, true><<<1, 32>>>(x); }\n", "k")
                ->entry,
            "k<16, true>");
}

TEST(Import, APointerIntoABufferIsItsOffset) {
  const Json json = manifest_of(
      "#define RADIUS 4\n__global__ void k(const float* in, float* out, int n) { out[n] = in[n - RADIUS]; }\n"
      "int main() { float *a, *b; int n = 64; cudaMalloc(&a, (n + 2 * RADIUS) * sizeof(float)); cudaMalloc(&b, n * "
      "4);\n"
      "k<<<1, 64>>>(a + RADIUS, &b[0], n); }\n");
  EXPECT_EQ(json["args"][0], Json({{"buffer", "in"}, {"offset", "4"}})) << json.dump();
  EXPECT_EQ(json["args"][1], "out");
  EXPECT_EQ(json["buffers"][0]["shape"], Json({"(n + 8)"}));
}

// A member function's call or a member may give the pointer.
TEST(Import, AnOffsetBehindAMembersPointerIsKept) {
  const auto passed = [](const std::string& argument) {
    return manifest_of(
        "__global__ void k(const float* in, float* out, int n) { out[n] = in[n]; }\n"
        "void run(torch::Tensor q, Rows x, float* b) { int n = 64;\n"
        "k<<<1, 64>>>(" +
        argument + ", b, n); }\n")["args"][0];
  };
  const Json behind{{"buffer", "in"}, {"offset", "16"}};
  EXPECT_EQ(passed("q.data_ptr<float>() + 16"), behind);
  EXPECT_EQ(passed("x.data + 4 * 4"), behind);
  EXPECT_EQ(passed("(b + 16)"), behind);
  EXPECT_EQ(passed("q.data_ptr<float>()"), "in");
  EXPECT_EQ(passed("q.data_ptr<float>() - 4 + 16"), "in") << "not element 16";
}

TEST(Import, ATypeThatTheLaunchingFunctionNamesForItselfIsFollowed) {
  const std::string source =
      "namespace app { namespace old {\n"
      "template <int Rows, int N> struct Tiles { static constexpr int kThreads = Rows / 2; };\n} namespace now {\n"
      "template <typename Shape> __global__ void k(float* x, int n) { x[threadIdx.x] = Shape::kThreads + n; }\n"
      "template <int M, int N> inline void run(float* x) {\n"
      "  using Shape = old::Tiles<M, N>;\n  dim3 const block(Shape::kThreads);\n"
      "  k<Shape><<<M / 8, block>>>(x, 64);\n}\n} }\n";
  const Json json =
      manifest_of(source + "#define ALL(ADD) ADD((app::old::run<32, 8>)) \\\n  ADD((app::now::run<64, 8>))\n");
  EXPECT_EQ(json["entry"], "app::now::k<app::old::Tiles<64, 8>>");
  EXPECT_EQ(json["launch"], Json::parse(R"({"grid": ["8", "1", "1"], "block": ["32", "1", "1"]})"));
  const auto unsaid = import_kernel("k.cu", source + "int main() { app::old::run<32, 8>(0); }\n", "");
  ASSERT_TRUE(unsaid) << unsaid.error().message;
  EXPECT_EQ(unsaid->entry.find("Tiles<32"), std::string::npos) << "another namespace's run";
  EXPECT_THAT(unsaid->guessed, Contains(StartsWith("the template's arguments: ")));
}

// The header is an earlier version of the kernel, of which the file takes a part.
TEST(Import, OfTwoKernelsOfANameTheFilesOwnIsTaken) {
  const std::string source =
      "#line 1 \"second.cu\"\n#line 1 \"first.cuh\"\n"
      "namespace first {\n__global__ void scale(float* x, int n) { x[threadIdx.x] = n; }\n"
      "inline void run(float* x) { scale<<<1, 32>>>(x, 32); }\n}\n#line 2 \"second.cu\"\n"
      "namespace second {\n__global__ void scale(float* x, int n) { x[threadIdx.x] = 2 * n; }\n"
      "inline void run(float* x) { scale<<<2, 64>>>(x, 128); }\n}\n";
  const Json own = manifest_of(source, "scale");
  EXPECT_EQ(own["entry"], "second::scale");
  EXPECT_EQ(own["launch"]["block"][0], "64");
  EXPECT_EQ(own["sizes"]["n"], 128);
  EXPECT_EQ(manifest_of(source, "first::scale")["launch"]["block"][0], "32");
}

TEST(Import, AStructsFunctionsTakeNoPlaceInIt) {
  const Json json = manifest_of(
      "struct Matrix {\n  int rows{};\n  const float* values = nullptr;\n  Matrix() = default;\n"
      "  Matrix(int r) : rows{r} { rows = r; }\n  __host__ __device__ int size() const { return rows; }\n};\n"
      "__global__ void k(Matrix m, float* y) { y[0] = m.values[m.rows]; }\n");
  ASSERT_TRUE(json.is_object()) << json.dump();
  EXPECT_EQ(json["args"][0]["struct"].size(), 2u);
  EXPECT_EQ(json["args"][0]["struct"][1], "m_values");
  const Json has_virtual = manifest_of(
      "struct Matrix { int rows; virtual int size() { return rows; } };\n"
      "__global__ void k(Matrix m, float* y) { y[0] = m.rows; }\n");
  EXPECT_THAT(has_virtual.dump(), HasSubstr("cannot be passed"));
}

}  // namespace
}  // namespace attnscope::catalog
