// The launch, where the host code says it by what it gets from outside or asks the runtime for.
#include "catalog/import_launch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "unit/catalog/read_kernel.h"
#include "unit/catalog/support.h"

namespace attnscope::catalog {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Read read_in(const std::string& host) {
  return read_kernel("__global__ void k(const float* x, float* y, int n) { y[threadIdx.x] = x[n]; }\n" + host, "");
}

// The kernel's own text, with no launch or with one.
Read kernel_in(const std::string& source) { return read_kernel(source, "k"); }

TEST(ImportLaunch, IsCooperativeWhereTheHostCodeSaysSo) {
  const Read said = read_in(R"(void run(float* a, float* b) {
  int n = 700; float* unused[2];
  cudaMalloc(&a, 800 * sizeof(float)); cudaMalloc(&b, 900 * sizeof(float));
  void* arguments[] = {(void*)&a, (void *)&b, &n,};
  cudaLaunchCooperativeKernel((void*)k, dim3(7), 96, arguments, 0, stream);
})");
  EXPECT_EQ(said.json["launch"]["cooperative"], true);
  EXPECT_EQ(said.json["launch"]["grid"], Json({"7", "1", "1"}));
  EXPECT_EQ(said.json["launch"]["block"][0], "96");
  EXPECT_EQ(said.json["sizes"]["n"], 700);
  EXPECT_EQ(said.json["buffers"][0]["shape"], Json({"800"}));
  EXPECT_THAT(said.imported.read, Contains("the launch is cooperative in the host code"));
  const Read other = read_in("void run(float* a, float* b) { k<<<7, 96>>>(a, b, 700); }");
  EXPECT_FALSE(other.json["launch"].contains("cooperative"));
  // An array with something else than addresses of names says no arguments.
  const Read computed = read_in(R"(void run(float* a, float* b) {
  void* arguments[] = {&a, &b, pointer_to(700)}; cudaLaunchKernel((void*)k, 7, 96, arguments, 0, 0);
})");
  EXPECT_THAT(computed.imported.read, Not(Contains(HasSubstr("700"))));
}

TEST(ImportLaunch, IsCooperativeWhereTheKernelWaitsForTheGrid) {
  const std::string body = "{ y[blockIdx.x] = x[n]; ";
  const std::string k = "__global__ void k(const float* x, float* y, int n) " + body;
  for (const std::string& source : {
           k + "cooperative_groups::this_grid().sync(); }",
           k + "cg::grid_group g = cg::this_grid(); g.sync(); }",
           k + "auto all = cg::this_grid(); cg::sync(all); }",
           k + "const auto grid = cg::this_grid(); auto t = grid.barrier_arrive(); }",
           "__device__ void step(const cg::grid_group& grid) { grid.sync(); }\n" + k + "step(cg::this_grid()); }",
           "template <class Group> __device__ void step(Group group) { cg::grid_group grid = cg::this_grid(); "
           "grid.sync(); }\n" +
               k + "step(1); }",
       }) {
    const Read read = kernel_in(source);
    EXPECT_EQ(read.json["launch"]["cooperative"], true) << source;
    EXPECT_THAT(read.imported.read, Contains("the launch is cooperative: the kernel waits for the grid")) << source;
    // As no launch says a grid, all of its CTAs must exist at once.
    EXPECT_THAT(read.json["launch"]["grid"][0].get<std::string>(), StartsWith("min(")) << source;
  }
  for (const std::string& source : {
           k + "cg::grid_group g = cg::this_grid(); y[0] = g.size(); cg::this_thread_block().sync(); }",
           k + "y[0] = cg::this_grid().thread_rank(); auto block = cg::this_thread_block(); block.sync(); }",
           "__device__ void other() { cg::this_grid().sync(); }\n" + k + "}",
       }) {
    EXPECT_FALSE(kernel_in(source).json["launch"].contains("cooperative")) << source;
  }
}

TEST(ImportLaunch, AnOccupancyOfACooperativeLaunchIsOneCtaOnEachSm) {
  const std::string host = R"(void run(float* a, float* b, int n) {
  int ctas; cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, k, 256, 0);
  void* arguments[] = {&a, &b, &n};
  LAUNCH((void*)k, ctas * p.multiProcessorCount, 256, arguments, 0, 0);
})";
  const auto with = [&](const std::string& launch) {
    std::string text = host;
    return read_in(text.replace(text.find("LAUNCH"), 6, launch)).json["launch"]["grid"][0].get<std::string>();
  };
  EXPECT_EQ(with("cudaLaunchCooperativeKernel"), "58");
  EXPECT_EQ(with("cudaLaunchKernel"), "348");
}

TEST(ImportLaunch, ATensorsDimensionInTheGridIsASize) {
  const Read torch = read_in(R"(torch::Tensor run(torch::Tensor q) {
  const int B = q.size(0); const int nh = q.size(1); const int n = q.size(2);
  k<<<dim3(B, nh), 64>>>(q.data_ptr<float>(), q.data_ptr<float>(), n);
})");
  EXPECT_EQ(torch.json["launch"]["grid"], Json({"B", "nh", "1"}));
  EXPECT_EQ(torch.json["sizes"]["B"], 4);
  EXPECT_EQ(torch.json["sizes"]["nh"], 4);
  EXPECT_THAT(torch.imported.guessed, Contains("the size B = 4, which the host code takes from outside"));
  EXPECT_TRUE(torch.imported.open_sizes.contains("nh"));
  EXPECT_TRUE(parse_kernel(
      {"k.json", torch.imported.manifest, "k.cu", "__global__ void k(const float* x, float* y, int n) {}"}));
}

TEST(ImportLaunch, AParameterOfTheHostFunctionInTheGridIsASize) {
  const Read given = read_in("void run(float* a, float* b, int rows, int n) { k<<<rows, n>>>(a, b, n); }");
  EXPECT_EQ(given.json["launch"]["grid"][0], "rows");
  EXPECT_TRUE(given.json["sizes"].contains("rows"));
}

TEST(ImportLaunch, ANumberThatTheHostCodeComputesIsNoSize) {
  const Read computed = read_in("void run(float* a, float* b, int n) { int g = best(n); k<<<g, 64>>>(a, b, n); }");
  EXPECT_EQ(computed.json["launch"]["grid"][0], "1");
  EXPECT_FALSE(computed.json["sizes"].contains("g"));
  const Read indexed = read_in("void run(float* a, float* b, int n) { int g = sizes[0]; k<<<g, 64>>>(a, b, n); }");
  EXPECT_FALSE(indexed.json["sizes"].contains("g"));
  const Read member = read_in("void run(float* a, float* b, int n) { int g = box.size; k<<<g, 64>>>(a, b, n); }");
  EXPECT_EQ(member.json["launch"]["grid"][0], "1") << "a tensor's is called: x.size(0)";
  EXPECT_FALSE(member.json["sizes"].contains("g"));
}

TEST(ImportLaunch, ABranchSaysANumberThatTheHostCodeComputes) {
  const Read wide = read_in(
      "void run(float* a, float* b, int n) { int w = best(n); if (w == 32) { k<<<w, 64>>>(a, b, n); } "
      "else if (w == 8) { k<<<w, 8>>>(a, b, n); } }");
  EXPECT_EQ(wide.json["launch"]["grid"][0], "32");
  EXPECT_THAT(wide.imported.guessed, Contains(HasSubstr("with w = 32, which the host code computes")));
  const Read other = read_in(
      "void run(float* a, float* b, int n) { int w = best(n); if (w == 32) { stop(); } else { k<<<w, 64>>>(a, b, n); } "
      "}");
  EXPECT_EQ(other.json["launch"]["grid"][0], "1");
}

TEST(ImportLaunch, ASumThatTheHostCodeMakesStepByStepIsRead) {
  const std::string begin = "int main() { const int n = 64; float *a, *b; size_t bytes = 0; ";
  const std::string launch = "k<<<4, 64, bytes>>>(a, b, n); }";
  const Read sum = read_in(begin + "bytes += 32 * sizeof(float); bytes += n * sizeof(float); " + launch);
  EXPECT_EQ(sum.json["launch"]["dynamic_shared"].get<std::string>().find('-'), std::string::npos);
  EXPECT_THAT(sum.imported.read, Contains(StartsWith("dynamic shared memory: ")));
  EXPECT_THAT(sum.imported.read, Contains(HasSubstr("n * 4")));
  for (const char* unsure :
       {"if (n > 4) bytes += 128; ", "if (n > 4) { bytes += 128; } ", "for (int i = 0; i < n; ++i) bytes += 4; ",
        "while (more()) { bytes += 4; } ", "bytes += 4; bytes *= scale(); ", "bytes += 4; set(&bytes); "}) {
    const Read one = read_in(begin + unsure + launch);
    EXPECT_THAT(one.imported.read, Not(Contains(StartsWith("dynamic shared memory: ")))) << unsure;
  }
  // Of a pointer, or of what another block declares, nothing is known.
  const Read pointer = read_in("int main() { float* a = data(); a += 4; k<<<4, 64>>>(a, a, 1); }");
  EXPECT_THAT(pointer.imported.read, Not(Contains(HasSubstr("begins at element"))));
}

TEST(ImportLaunch, ASizeThatALoopChangesBehindTheLaunchIsAGuess) {
  const std::string launch = "k<<<4, 64>>>(a, b, n); ";
  const auto reads = [&](const std::string& body) {
    const Read one = read_in("void run(float* a, float* b) { " + body + "}");
    return std::ranges::count(one.imported.read, "n is 8 in the host code") > 0;
  };
  EXPECT_TRUE(reads("int n = 8; while (more()) { " + launch + "}"));
  EXPECT_FALSE(reads("int n = 8; while (more()) { " + launch + "n *= 2; }"));
  EXPECT_FALSE(reads("int n = 8; do { " + launch + "n = 2 * n; } while (more());"));
  EXPECT_FALSE(
      reads("int n = 8; for (int i = 0; i < 3; ++i) { " + launch + "for (int j = 0; j < 3; ++j) { n += 8; } }"));
  EXPECT_TRUE(reads("for (int i = 0; i < 3; ++i) { int n = 8; " + launch + "n *= 2; }")) << "each turn has its own";
  EXPECT_TRUE(reads("int n = 8; while (more()) { " + launch + "} n *= 2;")) << "the loop is over";
}

TEST(ImportLaunch, WhatOnlyTheHostCodeIncludesIsNotTheKernels) {
  const std::string kernel = "__global__ void k(float* a, int n) { a[threadIdx.x] = n; }\n";
  const std::string host = "#include <cutlass/cutlass.h>\nvoid run(float* a) { k<<<1, 64>>>(a, 64); }\n";
  const auto says = [](const Result<Imported>& imported) {
    EXPECT_TRUE(imported);
    return imported && std::ranges::count(imported->read, "it includes CUTLASS' headers") > 0;
  };
  EXPECT_FALSE(says(import_kernel("k.cu", kernel, "", "k", "", host)));
  EXPECT_TRUE(says(import_kernel("k.cu", host + kernel, "", "k", "", "")));
}

TEST(ImportLaunch, WhatTheRuntimeIsAskedForIsAGpusAnswer) {
  const Read occupancy = read_in(R"(void run(float* a, float* b, int n) {
  int sms, fit;
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, k, 256, 0);
  k<<<min(fit * sms, (n + 255) / 256), 256>>>(a, b, n);
})");
  EXPECT_EQ(occupancy.json["launch"]["grid"][0], "min(348, ceil_div(n, 256))") << "6 CTAs of 256 threads on 58 SMs";
  EXPECT_THAT(occupancy.imported.guessed, Contains(HasSubstr(std::string("sms = 58") + kOfDevice)));
  const Read property =
      read_in("void run(float* a, float* b, int n) { k<<<prop.multiProcessorCount, 64>>>(a, b, n); }");
  EXPECT_EQ(property.json["launch"]["grid"][0], "58");
  const Read best = read_in(R"(void run(float* a, float* b, int n) {
  int grid = 0, block = 0;
  cudaOccupancyMaxPotentialBlockSize(&grid, &block, (void*)k, 0);
  k<<<grid, block>>>(a, b, n);
})");
  EXPECT_EQ(best.json["launch"]["grid"][0], "116");
  EXPECT_EQ(best.json["launch"]["block"][0], "768");
}

// The numbers that a first run is counted with are those of its device.
TEST(ImportLaunch, TheGpusAnswersAreThoseOfAShippedDevice) {
  const auto l4 = load_device(source_dir() / "assets/devices/l4.json");
  ASSERT_TRUE(l4);
  EXPECT_EQ(std::string(kOfDevice), fmt::format(" as on an sm_{} GPU of {} SMs", l4->arch, l4->sms));
  const auto grid = [](const std::string& ask, int threads) {
    return read_in(
               fmt::format("void run(float* a, float* b, int n) {{ int g; {}; k<<<g, {}>>>(a, b, n); }}", ask, threads))
        .json["launch"]["grid"][0]
        .get<std::string>();
  };
  EXPECT_EQ(grid("cudaDeviceGetAttribute(&g, cudaDevAttrMultiProcessorCount, 0)", 64), std::to_string(l4->sms));
  const std::string fit = "cudaOccupancyMaxActiveBlocksPerMultiprocessor(&g, k, 32, 0)";
  EXPECT_EQ(grid(fit, 512), std::to_string(32 * l4->warps_sm / 512));
  EXPECT_EQ(grid(fit, 1), std::to_string(l4->ctas_sm));
  const Read threads =
      read_in("void run(float* a, float* b, int n) { k<<<p.maxThreadsPerMultiProcessor, 64>>>(a, b, n); }");
  EXPECT_EQ(threads.json["launch"]["grid"][0], std::to_string(32 * l4->warps_sm));
}

// Every architecture has the same limit, so it is no guess.
TEST(ImportLaunch, ALimitOfEveryDeviceIsRead) {
  const Read limits = read_in(R"(void run(float* a, float* b, int n) {
  int threads = std::min<int>(512, prop.maxThreadsPerBlock);
  int blocks = std::min<int>((n + threads - 1) / threads, prop.maxGridSize[0]);
  k<<<blocks, threads>>>(a, b, n);
})");
  EXPECT_EQ(limits.json["launch"]["block"][0], "512");
  EXPECT_EQ(limits.json["launch"]["grid"][0], "min(ceil_div(n, 512), 2147483647)");
  EXPECT_THAT(limits.imported.guessed, Not(Contains(StartsWith("the grid"))));
}

TEST(ImportLaunch, MembersOfADim3AreRead) {
  const Read members = read_in(R"(void run(float* a, float* b, int n) {
  dim3 grid, block;
  block.x = 128;
  block.y = 4;
  grid.x = (n + block.x - 1) / block.x;
  k<<<grid, block>>>(a, b, n);
})");
  EXPECT_EQ(members.json["launch"]["block"], Json({"128", "4", "1"}));
  EXPECT_EQ(members.json["launch"]["grid"], Json({"ceil_div(n, 128)", "1", "1"}));
}

// A uint3 becomes a dim3.
TEST(ImportLaunch, SizesMayBeAUint3) {
  const Read read = read_in(R"(void run(float* a, float* b, int n) {
  uint3 grid = {32, 1, 1}, block = {1024, 1, 1};
  k<<<grid, block>>>(a, b, n);
})");
  EXPECT_EQ(read.json["launch"]["block"], Json({"1024", "1", "1"}));
  EXPECT_EQ(read.json["launch"]["grid"], Json({"32", "1", "1"}));
  EXPECT_THAT(read.imported.guessed, Not(Contains(StartsWith("the block"))));
}

// Which value counts would depend on the branch, or on the order.
TEST(ImportLaunch, AMemberThatChangesIsNotRead) {
  for (const char* change :
       {"if (n > 4) block.x = 64;", "block.y = 4; if (n > 4) block.z = 2;", "if (n > 4) block = dim3(64);",
        "if (n > 4) { block = dim3(64); }", "set(&block);", "set(block);", "dim3& other = block; other.x = 4;",
        "{ block.x = 64; }", "block.x = 64;", "block.x *= 2;", "block.x++;"}) {
    const Read changed = read_in(std::string("void run(float* a, float* b, int n) { dim3 block; block.x = 128; ") +
                                 change + " k<<<1, block>>>(a, b, n); }");
    EXPECT_THAT(changed.imported.read, Not(Contains(StartsWith("the block")))) << change;
  }
}

// `if (n > 4) block.x = 64;` as the first that sets it.
TEST(ImportLaunch, AMemberThatABranchSetsIsNotRead) {
  const Read branch = read_in(R"(void run(float* a, float* b, int n) { dim3 block; block.y = 4; if (n > 4) block.x = 64;
  k<<<1, block>>>(a, b, n); })");
  EXPECT_THAT(branch.imported.read, Not(Contains(StartsWith("the block"))));
}

// What happens to a dim3 after a launch says nothing of it.
TEST(ImportLaunch, ADim3IsReadUpToWhereItMayChange) {
  const Read later = read_in(R"(void run(float* a, float* b, int n) { dim3 block; block.x = 128; dim3 same = block;
  k<<<1, block>>>(a, b, n); block = dim3(64); other<<<1, block, 0, s>>>(a); })");
  EXPECT_EQ(later.json["launch"]["block"], Json({"128", "1", "1"}));
  EXPECT_THAT(later.imported.read, Contains(StartsWith("the block")));
}

// A template's parameter and another function's dim3 may have one name.
TEST(ImportLaunch, ATemplatesParameterIsNoOtherFunctionsDim3) {
  const Read other =
      read_in(R"(template <unsigned threads> void run(float* a, float* b, int n) { k<<<n, threads>>>(a, b, n); }
void elsewhere(float* a) { dim3 threads(16, 16); other<<<1, threads>>>(a); })");
  EXPECT_EQ(other.json["launch"]["block"], Json({"256", "1", "1"}));
}

// A launcher that gets its grid: the caller's names are the launch's.
TEST(ImportLaunch, AGridThatIsHandedOnMayUseTheSizes) {
  const Read handed =
      read_in(R"(void launch(dim3 grid, dim3 block, float* a, float* b, int n) { k<<<grid, block>>>(a, b, n); }
void run(Tensor x) { int n = x.rows(); dim3 block(16, 8); dim3 grid((n + 15) / 16, 2); launch(grid, block, x, x, n); })");
  EXPECT_EQ(handed.json["launch"]["grid"], Json({"ceil_div(n, 16)", "2", "1"}));
  EXPECT_EQ(handed.json["launch"]["block"], Json({"16", "8", "1"}));
}

TEST(ImportLaunch, ADim3ThatGetsAnotherValueHasThatOne) {
  const std::string begin =
      "int main() { int n = 4096; float *a, *b; dim3 grid(n / 128, 1, 1), block(128);\n"
      "other<<<grid, block>>>(a);\n";
  const std::string end = "\nk<<<grid, block>>>(a, b, n); }";
  const Read again = read_in(begin + "grid = dim3(n / 512, 2);" + end);
  EXPECT_EQ(again.json["launch"]["grid"], Json({"n / 512", "2", "1"}));
  EXPECT_THAT(again.imported.read, Contains("the grid: n / 512 x 2 x 1 CTAs"));
  const Read first = read_in(
      "int main() { int n = 4096; float *a, *b; dim3 grid; dim3 block;\n"
      "grid = dim3(n / 64); block = dim3(64, 2);" +
      end);
  EXPECT_THAT(first.imported.read, Contains("the grid: n / 64 x 1 x 1 CTAs"));
  EXPECT_THAT(first.imported.read, Contains("the block: 64 x 2 x 1 threads"));
  const Read member = read_in(begin + "grid.y = n / 2;" + end);
  EXPECT_THAT(member.imported.read, Contains("the grid: n / 128 x n / 2 x 1 CTAs"));
  for (const char* change : {"grid.x /= 4;", "if (n > 4) grid.y = 2;", "grid.x++;", "grid = larger(grid);",
                             "if (n > 4) grid = dim3(7);", "if (n > atoi(v)) { grid = dim3(7); }"})
    EXPECT_THAT(read_in(begin + change + end).imported.read, Not(Contains(StartsWith("the grid")))) << change;
}

// It is not a number, and the source does not say what its parts are.
TEST(ImportLaunch, ADim3FromOutsideIsNoSize) {
  const Read open =
      read_in("void launch(dim3 gdim, dim3 bdim, float* a, float* b, int n) { k<<<gdim, bdim>>>(a, b, n); }");
  EXPECT_FALSE(open.json["sizes"].contains("gdim")) << open.json.dump();
  EXPECT_THAT(open.imported.read, Not(Contains(StartsWith("the grid"))));
  EXPECT_THAT(open.imported.guessed, Contains(StartsWith("the grid: ceil_div(n, ")));
}

// The grid of a kernel that nothing launches.
std::string own_grid_of(const std::string& body) {
  const Json grid =
      kernel_in("constexpr int TILE = 32, WIDE = 64;\n__global__ void k(float* y, int B, int T, int C) { " + body +
                " }")
          .json["launch"]["grid"];
  return grid[0].get<std::string>() + " x " + grid[1].get<std::string>() + " x " + grid[2].get<std::string>();
}

TEST(ImportLaunch, WithoutALaunchTheGridReachesTheBoundsOfTheKernelsIndices) {
  const std::string index = "int i = blockIdx.x * blockDim.x + threadIdx.x; ";
  EXPECT_EQ(own_grid_of(index + "int N = B * T * C; if (i < N) y[i] = 1;"), "ceil_div(B * T * C, 256) x 1 x 1");
  EXPECT_EQ(own_grid_of(index + "if (i >= C) return; y[i] = 1;"), "ceil_div(C, 256) x 1 x 1");
  EXPECT_EQ(own_grid_of("for (int i = threadIdx.x + blockDim.x * blockIdx.x; i < T * C; i += 4) y[i] = 1;"),
            "ceil_div(T * C, 256) x 1 x 1");
  EXPECT_EQ(own_grid_of("int row = blockIdx.x; if (row < T) y[row] = 1;"), "T x 1 x 1");
  // A warp for each row, and four elements for each thread.
  EXPECT_EQ(own_grid_of(index + "int row = i / 32; if (row < B) y[row] = 1;"), "ceil_div(32 * B, 256) x 1 x 1");
  EXPECT_EQ(own_grid_of("int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5; if (row < B) y[row] = 1;"),
            "ceil_div(32 * B, 256) x 1 x 1");
  EXPECT_EQ(own_grid_of("int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4; if (i < C) y[i] = 1;"),
            "ceil_div(C, 1024) x 1 x 1");
  // The constants that multiply each axis.
  EXPECT_EQ(own_grid_of("int m = blockIdx.y * TILE + threadIdx.x / 8, n = blockIdx.x * WIDE + threadIdx.x % 8;\n"
                        "if (m < T && n < C) y[m * C + n] = 1;"),
            "ceil_div(C, 64) x ceil_div(T, 32) x 1");
  EXPECT_EQ(own_grid_of("int m = blockIdx.y * TILE, n = blockIdx.x * WIDE; y[m * C + n] = 1;"),
            "ceil_div(T, 64) x ceil_div(B, 32) x 1");
  // A bound that is not known outside the thread says nothing.
  const std::string guess = own_grid_of("y[blockIdx.x * 256 + threadIdx.x] = 1;");
  EXPECT_EQ(own_grid_of(index + "int last = y[0]; if (i < last) y[i] = 1;"), guess);
  EXPECT_EQ(own_grid_of(index + "if (i < 7) y[i] = 1;"), guess);
}

TEST(ImportLaunch, AReachIsSmall) {
  const std::string source =
      "__global__ void blur(const float* x, float* y, int rows, int kernelRadius, int mask_width, int stride_h) {}";
  const auto imported = import_kernel("blur.cu", source, "");
  ASSERT_TRUE(imported);
  const Json sizes = (*parse_json(imported->manifest, "blur.json"))["sizes"];
  for (const char* name : {"kernelRadius", "mask_width", "stride_h"}) EXPECT_EQ(sizes[name], 3) << name;
  EXPECT_GT(sizes["rows"], 64);
}

}  // namespace
}  // namespace attnscope::catalog
