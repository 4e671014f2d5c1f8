#include "compile/compiler.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "compile/cubin.h"
#include "compile/ptxas_log.h"
#include "compile/variant_json.h"
#include "cuda_api/locate.h"
#include "platform/atomic_file.h"
#include "platform/confine.h"
#include "support/variable.h"
#include "unit/compile/recorded.h"

namespace attnscope::compile {
namespace {

namespace fs = std::filesystem;

const char* const source = R"(#include <cuda_fp16.h>
#ifndef WIDTH
#define WIDTH 1
#endif
extern "C" __global__ void scale(const ATTN_T* in, float* out, int n) {
  __shared__ __align__(16) half tile[SIZE];
  __shared__ char mark[3];
  __shared__ float sums[4];
  const int t = threadIdx.x;
  tile[t] = in[t];
  mark[t % 3] = 1;
  sums[t % 4] = 2.0f;
  __syncthreads();
  out[t] = float(tile[t ^ 1]) * n + mark[(t + 1) % 3] + sums[(t + 1) % 4];
}
)";

CompileRequest request(int64_t size = 64) {
  CompileRequest one;
  one.source = source;
  one.file_name = "kernels/scale.cu";
  one.entry = "scale";
  one.macros = {{"SIZE", size}};
  return one;
}

// Compiles with the real NVRTC of either version; where one is missing, its tests are skipped.
class RealCompiler : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const char* named = std::getenv(variable);
    if (named != nullptr) before_ = named;
    unsetenv(variable);
    for (const cuda_api::LibraryPlace& place : cuda_api::library_places(cuda_api::CudaLibrary::nvrtc, GetParam()))
      if (place.library.is_absolute()) {
        setenv(variable, place.library.c_str(), 1);
        if (auto version = compiler.nvrtc_version(); !version) GTEST_SKIP() << version.error().message;
        return;
      }
    GTEST_SKIP() << "NVRTC " << GetParam() << " is not on this machine";
  }
  void TearDown() override {
    if (before_)
      setenv(variable, before_->c_str(), 1);
    else
      unsetenv(variable);
  }
  fs::path entry() const {
    for (const auto& file : fs::directory_iterator(folder.path)) return file.path();
    return {};
  }
  TemporaryFolder folder;
  Compiler compiler{CompilerOptions{folder.path, 512 << 20}};

 private:
  static constexpr const char* variable = "ATTNSCOPE_NVRTC";
  std::optional<std::string> before_;
};

INSTANTIATE_TEST_SUITE_P(Nvrtc, RealCompiler, testing::Values(12, 13),
                         [](const auto& parameter) { return std::to_string(parameter.param); });

TEST_P(RealCompiler, GivesAVariantForEveryArchitecture) {
  for (const int arch : {80, 89, 90}) {
    CompileRequest one = request();
    one.arch = arch;
    auto variant = compiler.compile(one);
    ASSERT_TRUE(variant) << variant.error().message << "\n" << variant.error().hint;
    const VariantInfo& info = (*variant)->info;
    EXPECT_EQ(info.arch, arch);
    EXPECT_FALSE(info.cached);
    EXPECT_GT(info.compile_ms, 0.0);
    EXPECT_EQ((*variant)->entry_symbol, "scale");
    EXPECT_NE((*variant)->ptx.find(".entry scale"), std::string::npos);
    EXPECT_EQ(info.compiler, "NVRTC " + *compiler.nvrtc_version());
    EXPECT_TRUE(info.compiler.starts_with("NVRTC " + std::to_string(GetParam()) + ".")) << info.compiler;
    // The ELF's figures must equal ptxas' own.
    auto kernel = read_cubin((*variant)->cubin, "scale");
    ASSERT_TRUE(kernel);
    EXPECT_EQ(kernel->arch, static_cast<uint32_t>(arch));
    const auto said = read_ptxas_log(info.log, "scale");
    ASSERT_TRUE(said) << info.log;
    EXPECT_EQ(info.registers, said->registers);
    EXPECT_EQ(info.stack_bytes, said->stack_bytes);
    EXPECT_EQ(info.static_shared_bytes, said->shared_bytes);
    EXPECT_EQ((*variant)->barriers, said->barriers);
  }
}

TEST_P(RealCompiler, NamesTheSharedBuffersAndTheirPadding) {
  auto variant = compiler.compile(request());
  ASSERT_TRUE(variant) << variant.error().message;
  const std::vector<SharedBuffer> expected = {
      {"tile", 128, false}, {"mark", 3, false}, {"sums", 16, false}, {"padding", 1, false}};
  EXPECT_EQ((*variant)->info.shared_buffers, expected);
  EXPECT_EQ((*variant)->info.static_shared_bytes, 148);
  EXPECT_TRUE((*variant)->shared.placed);
  EXPECT_EQ((*variant)->shared.buffers[2].offset, 132);
}

// The test's own headers in place of CUTLASS', and a kernel that computes their values.
class OwnHeaders {
 public:
  OwnHeaders() {
    fs::create_directories(folder.path / "cutlass");
    write("cutlass/version.h", "");
    write("first.h", "#include \"second.h\"\n#ifdef NEVER\n#include <third.h>\n#endif\n#define FIRST 1\n");
    write("second.h", "#include HEADER(fourth)\n#define SECOND 1\n");
    write("third.h", "#define THIRD 1\n");
    write("fourth.h", "#define FOURTH 1\n");
  }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder.path / name) << text; }
  CompileRequest request() const {
    CompileRequest one;
    one.file_name = "own.cu";
    one.entry = "own";
    one.headers = {"cutlass"};
    one.source = R"(#define HEADER(name) <name.h>
#include <first.h>
#ifndef THIRD
#define THIRD 1
#endif
extern "C" __global__ void own(int* out) { out[0] = FIRST; out[1] = SECOND; out[2] = THIRD; out[3] = FOURTH; }
)";
    return one;
  }
  TemporaryFolder folder;
  const testing_support::Variable cutlass{"ATTNSCOPE_CUTLASS", folder.path};
};

TEST_P(RealCompiler, AChangeInAnyIncludedFileCompilesAgain) {
  OwnHeaders own;
  const CompileRequest one = own.request();
  auto before = compiler.compile(one);
  ASSERT_TRUE(before) << before.error().message << "\n" << before.error().hint;
  auto again = compiler.compile(one);
  ASSERT_TRUE(again);
  EXPECT_TRUE((*again)->info.cached);
  std::set<std::string> codes = {(*before)->info.code_hash};
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"fourth.h", "#define FOURTH 2\n"},
      {"second.h", "#include HEADER(fourth)\n#define SECOND 2\n"},
      {"third.h", "#define THIRD 2\n"},  // behind an #ifdef: another name, the same code
      {"first.h", "#include \"second.h\"\n#include <third.h>\n#define FIRST 1\n"}};
  for (const auto& [file, text] : changes) {
    own.write(file, text);
    auto after = compiler.compile(one);
    ASSERT_TRUE(after) << after.error().message << "\n" << after.error().hint;
    EXPECT_FALSE((*after)->info.cached) << file;
    if (file != "third.h") {
      EXPECT_TRUE(codes.insert((*after)->info.code_hash).second) << file;
    }
  }
}

TEST_P(RealCompiler, VariablesThatAreTooLargeAreNoDamagedCubin) {
  CompileRequest one;
  one.file_name = "big.cu";
  one.entry = "big";
  one.source =
      "__device__ char table[8ull << 30];\n"
      "extern \"C\" __global__ void big(char* out, long i) { table[i] = out[0]; out[1] = table[2 * i]; }\n";
  auto variant = compiler.compile(one);
  ASSERT_FALSE(variant);
  EXPECT_EQ(
      variant.error().message,
      "big: the __device__ variables take more than 4 GB: table has 8589934592 bytes, which its cubin cannot tell.");
}

// Ways in which a kernel's text can name the machine's files, and what happens.
class Outside : public RealCompiler {
 protected:
  void SetUp() override {
    RealCompiler::SetUp();
    std::ofstream(secret) << "int SECRET_WORD = unknown;\n";
  }
  CompileRequest of(const std::string& lines) const {
    CompileRequest one = request();
    one.source = lines + one.source;
    return one;
  }
  std::string from_headers() const {
    const fs::path library = std::getenv("ATTNSCOPE_NVRTC");
    return fs::relative(secret, library.parent_path().parent_path() / "include").string();
  }
  void refused(const std::string& lines) {
    auto variant = compiler.compile(of(lines));
    ASSERT_FALSE(variant) << lines;
    const Failure& failure = variant.error();
    EXPECT_EQ(failure.stage, Stage::compile);
    EXPECT_TRUE(failure.message.starts_with("scale.cu:")) << failure.message;
    EXPECT_EQ((failure.message + failure.hint).find("SECRET_WORD"), std::string::npos) << failure.hint;
    EXPECT_NE(failure.hint.find("attnscope import"), std::string::npos) << failure.hint;
  }
  void all_refused() {
    const std::string name = secret.string();
    for (const std::string& lines :
         {"#include \"" + name + "\"\n", "#include <" + name + ">\n", "%:include \"" + name + "\"\n",
          "#include \"" + from_headers() + "\"\n", "#define FILE \"" + name + "\"\n#include FILE\n"})
      refused(lines);
  }
  TemporaryFolder elsewhere;
  const fs::path secret = elsewhere.path / "secret.h";
};

INSTANTIATE_TEST_SUITE_P(Nvrtc, Outside, testing::Values(12, 13),
                         [](const auto& parameter) { return std::to_string(parameter.param); });

TEST_P(Outside, NoFileOfTheMachineIsIncluded) {
  if (platform::landlock_version() == 0) GTEST_SKIP() << "this system has no landlock";
  all_refused();
}

TEST_P(Outside, NoFileOfTheMachineIsAskedFor) {
  if (platform::landlock_version() == 0) GTEST_SKIP() << "this system has no landlock";
  for (const std::string& name : {"\"" + secret.string() + "\"", "<" + from_headers() + ">", std::string("PLACE")}) {
    auto variant = compiler.compile(
        of("#define PLACE \"" + secret.string() + "\"\n#if __has_include(" + name + ")\n#error it is there\n#endif\n"));
    EXPECT_TRUE(variant) << name << ": " << variant.error().message;
  }
}

TEST_P(Outside, WithoutWallsTheTextItselfIsHeldToPlainNames) {
  const testing_support::Variable no_walls("ATTNSCOPE_CONFINE", "off");
  all_refused();
  refused("#if __has_include(\"" + secret.string() + "\")\n#endif\n");
  EXPECT_TRUE(compiler.compile(request()));
}

// A CuTe layout in the source, whose sizeof the manifest may use.
TEST_P(RealCompiler, CutlassHeadersAndConstantsOfTheSource) {
  if (auto headers = cuda_api::locate_headers("cutlass"); !headers) GTEST_SKIP() << headers.error().message;
  CompileRequest one;
  one.file_name = "layout.cu";
  one.entry = "layout";
  one.source = R"(#include <cute/layout.hpp>
using Tile = cute::Layout<cute::Shape<cute::_8, cute::_64>>;
extern "C" __device__ const int tile_bytes = 2 * cute::cosize_v<Tile>;
extern "C" __device__ const long long large = 1LL << 40;
extern "C" __device__ const char letter = 'a';
extern "C" __global__ void layout(int* out) { out[threadIdx.x] = Tile{}(threadIdx.x, 3); }
)";
  auto without = compiler.compile(one);
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().stage, Stage::compile);
  one.headers = {"cutlass"};
  auto variant = compiler.compile(one);
  ASSERT_TRUE(variant) << variant.error().message << "\n" << variant.error().hint;
  auto constants = constants_of(**variant, {"tile_bytes", "large"});
  ASSERT_TRUE(constants) << constants.error().message;
  EXPECT_EQ(constants->at("tile_bytes"), 1024);
  EXPECT_EQ(constants->at("large"), double(1LL << 40));
  EXPECT_FALSE(constants_of(**variant, {"letter"}));
  EXPECT_FALSE(constants_of(**variant, {"missing"}));
  one.headers = {"no_such_library"};
  EXPECT_FALSE(compiler.compile(one));
}

TEST_P(RealCompiler, SpillsAndStackAreWhatPtxasSays) {
  CompileRequest one = request();
  one.source = R"(extern "C" __global__ void heavy(float* x) {
    float a[96];
    #pragma unroll
    for (int i = 0; i < 96; ++i) a[i] = x[threadIdx.x + i * 256];
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 96; ++i) x[threadIdx.x + i * 256] = a[95 - i] * a[(i * 7) % 96];
  })";
  one.entry = "heavy";
  one.macros.clear();
  one.options.maxrregcount = 32;
  auto variant = compiler.compile(one);
  ASSERT_TRUE(variant) << variant.error().message;
  EXPECT_GT((*variant)->info.spill_bytes, 0);
  EXPECT_GT((*variant)->info.stack_bytes, 0);
  EXPECT_LE((*variant)->info.registers, 32);
  const auto said = read_ptxas_log((*variant)->info.log, "heavy");
  ASSERT_TRUE(said);
  EXPECT_EQ((*variant)->info.stack_bytes, said->stack_bytes);
  EXPECT_EQ((*variant)->info.spill_bytes, said->spill_stores + said->spill_loads);
}

// 6 CTAs of 256 threads leave 42 of an SM's 65,536 registers to each thread.
TEST_P(RealCompiler, LaunchBoundsLeaveRegistersForSoManyCtas) {
  CompileRequest one = request();
  one.entry = "heavy";
  one.macros.clear();
  const auto compiled = [&](const std::string& bounds, int ctas) {
    one.options.launch_bounds = ctas;
    one.source =
        "template <class T, int N> struct Tile { static constexpr int kThreads = 64 * N; };\n"
        "extern \"C\" __global__ void " +
        bounds + R"( heavy(float* x) {
      float a[96];
      #pragma unroll
      for (int i = 0; i < 96; ++i) a[i] = x[threadIdx.x + i * 256];
      __syncthreads();
      #pragma unroll
      for (int i = 0; i < 96; ++i) x[threadIdx.x + i * 256] = a[95 - i] * a[(i * 7) % 96];
    })";
    auto variant = compiler.compile(one);
    EXPECT_TRUE(variant) << variant.error().message;
    return variant ? (*variant)->info : VariantInfo{};
  };
  EXPECT_GT(compiled("__launch_bounds__(256)", 0).registers, 42);
  for (const char* bounds :
       {"__launch_bounds__(256)", "__launch_bounds__(128 * 2, 1)", "__launch_bounds__(Tile<float, 4>::kThreads)"})
    EXPECT_LE(compiled(bounds, 6).registers, 42) << bounds;
  EXPECT_EQ(compiled("", 6).code_hash, compiled("", 0).code_hash) << "it has none";
  one.source = "extern \"C\" __global__ void __launch_bounds__(32) heavy(float* x) {\n  nowhere;\n}\n";
  const auto refused = compiler.compile(one);
  one.options.launch_bounds = 2;
  const auto again = compiler.compile(one);
  ASSERT_FALSE(refused);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, refused.error().message) << "lines keep their numbers";
}

TEST_P(RealCompiler, TheSecondTimeItIsCachedWithTheFirstsTime) {
  auto first = compiler.compile(request());
  ASSERT_TRUE(first) << first.error().message;
  Compiler another(CompilerOptions{folder.path, 512 << 20});
  auto second = another.compile(request());
  ASSERT_TRUE(second);
  EXPECT_TRUE((*second)->info.cached);
  EXPECT_EQ((*second)->info.compile_ms, (*first)->info.compile_ms);
  EXPECT_EQ((*second)->cubin, (*first)->cubin);
  EXPECT_EQ((*second)->ptx, (*first)->ptx);
  VariantInfo same = (*second)->info;
  same.cached = false;
  EXPECT_EQ(same, (*first)->info);
  CompileRequest other = request();
  other.options.fmad = false;
  auto third = another.compile(other);
  ASSERT_TRUE(third);
  EXPECT_FALSE((*third)->info.cached);
}

TEST_P(RealCompiler, EqualMachineCodeHasOneHashWhateverTheSourceSays) {
  auto first = compiler.compile(request());
  CompileRequest other = request();
  other.source = "// a comment\nconstexpr int unused_constant = WIDTH * 3;\n" + other.source;
  other.file_name = "renamed.cu";
  other.macros["WIDTH"] = 4;
  auto second = compiler.compile(other);
  other.source += "\n__device__ int never_read[5] = {1, 2, 3, 4, 5};\n";
  auto third = compiler.compile(other);
  auto fourth = compiler.compile(request(128));
  ASSERT_TRUE(first && second && third && fourth);
  EXPECT_EQ((*first)->info.code_hash, (*second)->info.code_hash);
  EXPECT_EQ((*first)->info.code_hash, (*third)->info.code_hash);
  EXPECT_NE((*first)->info.code_hash, (*fourth)->info.code_hash);
  EXPECT_FALSE((*second)->info.cached);
}

TEST_P(RealCompiler, ATruncatedEntryIsMadeAgainAndLogged) {
  ASSERT_TRUE(compiler.compile(request()));
  const fs::path file = entry();
  fs::resize_file(file, fs::file_size(file) - 100);
  auto again = compiler.compile(request());
  ASSERT_TRUE(again);
  EXPECT_FALSE((*again)->info.cached);
  EXPECT_NE((*again)->info.log.find("truncated or damaged"), std::string::npos) << (*again)->info.log;
  auto third = compiler.compile(request());
  ASSERT_TRUE(third);
  EXPECT_TRUE((*third)->info.cached);
  EXPECT_EQ((*third)->info.log.find("truncated or damaged"), std::string::npos);
}

TEST_P(RealCompiler, AFullDiskNeverFailsACompilation) {
  platform::inject_write_fault(platform::WriteFault{folder.path.string(), 4096, ENOSPC});
  auto variant = compiler.compile(request());
  platform::inject_write_fault(std::nullopt);
  ASSERT_TRUE(variant);
  EXPECT_NE((*variant)->info.log.find("could not be kept"), std::string::npos);
  EXPECT_TRUE(entry().empty());
}

TEST_P(RealCompiler, ManyThreadsCompileAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] { good += compiler.compile(request(64 + 32 * (i / 2))).has_value(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 4);
}

TEST_P(RealCompiler, AnErrorIsNamedByFileAndLine) {
  CompileRequest bad = request();
  bad.source = "#include <cuda_fp16.h>\nextern \"C\" __global__ void scale(foo* x) {}\n";
  auto variant = compiler.compile(bad);
  ASSERT_FALSE(variant);
  EXPECT_EQ(variant.error().stage, Stage::compile);
  EXPECT_TRUE(variant.error().message.starts_with("scale.cu:2: ")) << variant.error().message;
  EXPECT_EQ(variant.error().hint.find("/attnscope/"), std::string::npos);
  bad = request();
  bad.entry = "scales";
  variant = compiler.compile(bad);
  ASSERT_FALSE(variant);
  EXPECT_NE(variant.error().message.find("no kernel \"scales\""), std::string::npos) << variant.error().message;
}

// The host side of a file for nvcc may need headers that NVRTC does not have.
TEST_P(RealCompiler, WhatTheKernelDoesNotReachMayBeBroken) {
  CompileRequest one = request();
  const std::string beside =
      "#include <no/such/system.h>\n#ifndef __linux__\n#error no system\n#endif\nno_such_type lost();\n"
      "constexpr int f(int x) { return no_such_function(x); }\n";
  one.source = beside + source;
  const auto variant = compiler.compile(one);
  ASSERT_TRUE(variant) << variant.error().message;
  EXPECT_NE((*variant)->info.log.find("There is no header no/such/system.h"), std::string::npos);
  // Headers that it does reach are refused as before, by the first refusal.
  one.source = beside + std::string(source) + "__global__ void caller(int* p) { *p = f(*p); }\n";
  one.entry = "caller";
  const auto refused = compiler.compile(one);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("scale.cu:1: there is no header no/such/system.h"), std::string::npos);
  for (const char* outside : {"#include <../secret.h>\n", "#include </etc/passwd>\n"}) {
    one = request();
    one.source = outside + one.source;
    EXPECT_FALSE(compiler.compile(one)) << outside;
  }
}

// Only a project's host code may need one of its headers.
TEST_P(RealCompiler, AKernelMayDoWithoutAHeaderOfItsProject) {
  CompileRequest one = request();
  one.source = "#include \"no_such.h\"\n" + std::string(source);
  const auto variant = compiler.compile(one);
  ASSERT_TRUE(variant) << variant.error().message;
  EXPECT_NE((*variant)->info.log.find("There is no header no_such.h"), std::string::npos);
  one.source = "#include \"no_such.h\"\n__global__ void caller(int* p) { *p = ceil_of(*p, 2); }\n";
  one.entry = "caller";
  const auto refused = compiler.compile(one);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("scale.cu:1: there is no header no_such.h"), std::string::npos);
  EXPECT_NE(refused.error().hint.find("--include"), std::string::npos);
  EXPECT_NE(refused.error().hint.find("identifier \"ceil_of\" is undefined"), std::string::npos);
}

// What a host compiler provides by itself, and what only host code uses.
TEST_P(RealCompiler, TakesWhatNvccTakes) {
  for (const char* text :
       {"__global__ void k(long* p) { *p = (__int128)*p * *p >> 64; }\n",
        "#include <vector>\n__global__ void k(int* p) { *p = INT_MAX; p[1] = FLT_MAX > 1; }\n",
        "#include <cufft.h>\n__global__ void k(cufftComplex* p) { p[0].x = 1; }\n",
        "#include <curand.h>\n__global__ void k(curandDirectionVectors32_t* p) { p[0][1] = CURAND_M2; }\n",
        "#include <cmath>\n#include <cstddef>\n"
        "__global__ void k(float* p, std::size_t n) { if (threadIdx.x < n) *p = std::atan2(*p, 2.f) + std::hypot(*p, "
        "1.f); }\n",
        "#define TWO(x) { \\\r\n  x; \\\r\n  x; }\r\nint main() { exit(0); }\r\n__global__ void k(int* p) { TWO(++*p) "
        "}\r\n",
        "#include <thrust/device_vector.h>\n#include <thrust/sort.h>\n__global__ void k(int* p) { *p = 1; }\n"
        "void host(thrust::device_vector<int>& v) { thrust::sort(v.begin(), v.end()); }\n",
        "#include <cub/cub.cuh>\n__global__ void k(int* p) {\n"
        "  __shared__ cub::WarpReduce<int>::TempStorage s;\n  *p = cub::WarpReduce<int>(s).Sum(*p);\n}\n"}) {
    CompileRequest one = request();
    one.source = text;
    one.entry = "k";
    one.macros.clear();  // CUB has a SIZE of its own
    const auto variant = compiler.compile(one);
    EXPECT_TRUE(variant) << text << (variant ? "" : variant.error().message);
  }
}

TEST_P(RealCompiler, TooMuchStaticSharedMemoryIsALimitAndTheSameDynamicCompiles) {
  auto variant = compiler.compile(request(28678));  // 57,356 B + mark + sums, aligned: 57,376
  ASSERT_FALSE(variant);
  EXPECT_EQ(variant.error().stage, Stage::limits);
  EXPECT_NE(variant.error().message.find("57,376 B"), std::string::npos) << variant.error().message;
  EXPECT_NE(variant.error().message.find("49,152 B"), std::string::npos) << variant.error().message;
  CompileRequest dynamic = request(28678);
  const std::string declaration = "__shared__ __align__(16) half tile[SIZE];";
  dynamic.source.replace(dynamic.source.find(declaration), declaration.size(), "extern __shared__ half tile[];");
  auto other = compiler.compile(dynamic);
  ASSERT_TRUE(other) << other.error().message;
  // mark and sums take 20 bytes; the dynamic part is aligned to 16 and starts after them.
  EXPECT_EQ((*other)->info.static_shared_bytes, 32);
  const std::vector<SharedBuffer> expected = {{"mark", 3, false}, {"sums", 16, false}, {"padding", 13, false}};
  EXPECT_EQ((*other)->info.shared_buffers, expected);
}

TEST_P(RealCompiler, TemplatesAreNamedByTheirExpression) {
  CompileRequest one = request();
  one.source = "namespace n { template <class T, int N> __global__ void k(T* x) { x[N] = T(N); } }";
  one.entry = "n::k<float, 3>";
  one.macros.clear();
  auto variant = compiler.compile(one);
  ASSERT_TRUE(variant) << variant.error().message;
  EXPECT_EQ((*variant)->entry_symbol, "_ZN1n1kIfLi3EEEvPT_");
}

TEST_P(RealCompiler, TheSourcesOwnFolderIsNotSearched) {
  const fs::path here = fs::current_path();
  fs::current_path(folder.path);
  std::ofstream(folder.path / "secret.h") << "#define SECRET 1\n";
  CompileRequest one = request();
  one.source = "#include \"secret.h\"\n__global__ void reads(int* p) { *p = SECRET; }\n";
  one.entry = "reads";
  const bool compiled = compiler.compile(one).has_value();
  fs::current_path(here);
  EXPECT_FALSE(compiled);
}

TEST(Compiler, WhatMayNotReachTheCompilerIsRefusedFirst) {
  Compiler compiler(CompilerOptions{});
  CompileRequest bad = request();
  bad.macros["SIZE -DX"] = 1;
  EXPECT_EQ(compiler.compile(bad).error().stage, Stage::input);
  bad = request();
  bad.source = std::string(5 << 20, ' ');
  EXPECT_EQ(compiler.compile(bad).error().stage, Stage::input);
  bad = request();
  bad.source += '\0';
  EXPECT_EQ(compiler.compile(bad).error().stage, Stage::input);
  for (const std::string& entry : {std::string(), std::string("a\nb"), std::string(600, 'a')}) {
    bad = request();
    bad.entry = entry;
    EXPECT_EQ(compiler.compile(bad).error().stage, Stage::input);
  }
}

TEST(VariantJson, GivesBackTheSameVariantAndRefusesAnythingElse) {
  Variant variant;
  variant.info = {89,     64,           12,    72,   148,  0, {{"tile", 128, false}, {"padding", 20, false}},
                  "hash", "NVRTC 12.8", false, 12.5, "log"};
  variant.entry_symbol = "k";
  variant.ptx = ".entry k";
  variant.cubin = std::vector<std::byte>(100, std::byte{200});
  variant.shared = {{{"tile", "_Z4tile", 16, 128}}, 144, false};
  variant.barriers = 1;
  variant.max_threads = 128;
  const std::string bytes = pack_variant(variant);
  auto again = unpack_variant(bytes);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->info, variant.info);
  EXPECT_EQ(again->cubin, variant.cubin);
  EXPECT_EQ(again->shared.buffers[0].offset, 16);
  EXPECT_EQ(pack_variant(*again), bytes);
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(unpack_variant(bytes.substr(0, size)));
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    if (auto read = unpack_variant(damaged); !read) {
      EXPECT_EQ(read.error().stage, Stage::store);
    }
  }
}

}  // namespace
}  // namespace attnscope::compile
