#include "compile/host_code.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compile/builtin_headers.h"
#include "compile/compiler.h"
#include "compile/implied_headers.h"

namespace attnscope::compile {
namespace {

// The text that remains, as lines without the blank ones.
std::string left_of(const std::string& source) {
  const std::string out = without_host_code(source);
  EXPECT_EQ(std::ranges::count(out, '\n'), std::ranges::count(source, '\n'));
  EXPECT_EQ(out.size(), source.size());
  std::string left, line;
  for (const char c : out + "\n") {
    if (c != '\n') {
      line += c;
      continue;
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (!line.empty()) left += line + "\n";
    line.clear();
  }
  return left;
}

TEST(HostCode, OfNoneIsTheSourceItself) {
  const std::string source = R"(// a story
#include <cuda_fp16.h>
namespace a { template <int N> __device__ int f(int x) { return x > N ? x : 'N'; } }
extern "C" __global__ void k(const half* in, float* out) { out[0] = a::f<3>(1) << 2; }
)";
  EXPECT_EQ(without_host_code(source), source);
  EXPECT_EQ(without_host_code(""), "");
}

TEST(HostCode, LineNumbersWithinItStay) {
  const std::string source = "int main() {\n  int i;\n#line 7 \"k.cu\"\n  return 0;\n}\n__global__ void k() {}\n";
  EXPECT_EQ(without_host_code(source),
            "            \n        \n#line 7 \"k.cu\"\n           \n \n__global__ void k() {}\n");
}

TEST(HostCode, MainAndLaunchesGoAndLinesStay) {
  EXPECT_EQ(left_of(R"(#include <cstdio>
__global__ void k(int* p) { p[threadIdx.x] = 1; }
void run(int* p) {
  k<<<1, 32>>>(p);
}
template <class T>
static std::vector<T> make(int n) { return std::vector<T>(n, T{'}'}); }
int main(int argc, char** argv) {
  // a } in a comment and "}" in a string
  printf("}%d\n", '}');
  return 0;
}
)"),
            "#include <cstdio>\n__global__ void k(int* p) { p[threadIdx.x] = 1; }\n");
}

TEST(HostCode, ALambdaNeedsNoWordForWhereItRuns) {
  EXPECT_EQ(left_of("__global__ void k(int* p) { go([=] __host__ __device__(int i) { p[i] = i; }); }\n"),
            "__global__ void k(int* p) { go([=]                    (int i) { p[i] = i; }); }\n");
  const std::string attribute = "[[nodiscard]] __device__ int f(int (&a)[3]);\n";
  EXPECT_EQ(left_of(attribute), attribute);
}

// A class with device code loses only its host members, whatever stands before them.
TEST(HostCode, AccessWordsOfAClassStay) {
  for (const char* word : {"public", "private", "protected"}) {
    const std::string access(word);
    EXPECT_EQ(left_of("class C {\n" + access + ":\n  void host() { std::string s; }\n  __device__ int f();\n};\n"),
              "class C {\n" + access + ":\n  __device__ int f();\n};\n");
  }
  EXPECT_EQ(
      left_of("struct C {\n  C(int x) : a(x), s{} { s = std::string(1, 'a'); }\n  __device__ int f();\n  int a;\n};\n"),
      "struct C {\n  __device__ int f();\n  int a;\n};\n");
}

TEST(HostCode, ConditionsInsideAHostFunctionStayBalanced) {
  EXPECT_EQ(left_of("int main() {\n#ifdef VERBOSE\n  puts(\"x\");\n#else\n  go();\n#endif\n}\n"),
            "#ifdef VERBOSE\n#else\n#endif\n");
  EXPECT_EQ(left_of("#if 0\nint main( { don't\n#endif\n__constant__ int c[2] = {1, 2};\n"),
            "#if 0\nint main( { don't\n#endif\n__constant__ int c[2] = {1, 2};\n");
}

struct Case {
  const char* name;
  const char* source;
  bool stays;
};

class OneDeclaration : public testing::TestWithParam<Case> {};

TEST_P(OneDeclaration, StaysOrGoes) {
  const std::string source = std::string(GetParam().source) + "\n";
  EXPECT_EQ(left_of(source), GetParam().stays ? source : "");
}

INSTANTIATE_TEST_SUITE_P(
    HostCode, OneDeclaration,
    testing::Values(
        Case{"kernel", "template <int N> __global__ void __launch_bounds__(N) k(float* p) { p[0] = N; }", true},
        Case{"device_operator", "__host__ __device__ inline float2 operator+(float2 a, float2 b) { return a; }", true},
        Case{"call_operator", "struct F { __device__ int operator()(int a) const { return a; } };", true},
        Case{"constexpr_function", "constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }", true},
        Case{"plain_struct", "struct Params { int n; float s; };", true},
        Case{"typedef_struct", "typedef struct { float x, y; } Point;", true},
        Case{"union", "union Bits { float f; unsigned u; };", true},
        Case{"enum", "enum class Op : int { add, mul };", true},
        Case{"constant", "__constant__ float table[3] = {1, 2, 3};", true},
        Case{"constant_array", "const int kSizes[] = {1, 2, 3};", true},
        Case{"function_pointer", "typedef float (*Unary)(float);", true},
        Case{"device_pointer", "__device__ Unary ops[2] = {f, g};", true}, Case{"alias", "using Vec = float4;", true},
        Case{"using_std", "using namespace std;", true},
        Case{"instantiation", "template __global__ void k<float>(float*);", true},
        Case{"device_lambda", "__device__ auto f = [](int a) { return a; };", true},
        Case{"raw_string", "__device__ const char* text = R\"(int main() { })\";", true},
        Case{"digit_separator", "constexpr int big = 1'000'000;", true},
        Case{"aligned_struct", "struct __align__(16) V { float x[4]; };", true},
        Case{"struct_with_constructor", "struct P { int a; P(int x) : a(x) {} };", true},
        Case{"constructor_with_braces", "struct P { int a; __device__ P(int x) : a{x} { a += 1; } };", true},
        Case{"constructor_with_braces_and_parens",
             "struct P { int a, b; __device__ P(int x) : a(x), b{x} { b += 1; } };", true},
        Case{"base_with_braces", "template <class T> struct D : B<T> { __device__ D() : B<T>{} { n = 1; } int n; };",
             true},
        Case{"host_function", "static inline float reference(float x) { return x; }", false},
        Case{"host_template", "template <class T, int N = (3 > 2)> T sum(const T* p) { return p[0]; }", false},
        Case{"host_prototype", "void launch(float* p, int n);", false},
        Case{"host_instantiation", "template void launch<float>(float*, int);", false},
        Case{"trailing_return", "auto f(int a) -> int { return a; }", false},
        Case{"host_only", "__host__ void f() {}", false},
        Case{"extern_c_host", "extern \"C\" int api(void) { return 1; }", false},
        Case{"binding", "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"f\", &f); }", false},
        Case{"tensor", "torch::Tensor forward(torch::Tensor q, c10::optional<double> scale) { return q; }", false},
        Case{"host_class", "class Timer { std::chrono::time_point<int> t; public: void stop() { t = {}; } };", false},
        Case{"host_variable", "static std::vector<int> sizes = {1, 2, 3};", false},
        Case{"host_variable_of_a_call", "double started = wall_clock();", false},
        Case{"host_array", "float* buffers[2] = {nullptr, nullptr};", false},
        Case{"const_variable", "static const int kRows = 1 << 4;", true},
        Case{"managed_variable", "__managed__ int done = 0;", true}, Case{"tensor_of_at", "at::Tensor cache;", false},
        Case{"tensor_template", "template <int D> torch::Tensor fwd(torch::Tensor q) { return q; }", false},
        Case{"host_using", "using std::vector;", false},
        Case{"host_constexpr", "constexpr auto f() { return std::string(\"x\"); }", false},
        Case{"dim3", "dim3 grid(4, 2);", false}),
    [](const testing::TestParamInfo<Case>& one) { return one.param.name; });

TEST(HostCode, MacrosThatSayWhereAFunctionRunsAreRead) {
  const std::string source = "#define DEV __device__ __forceinline__\nDEV int f(int a) { return a; }\n";
  EXPECT_EQ(without_host_code(source), source);
  const std::string made = "#define KERNEL(T) __global__ void k_##T(T* p) { p[0] = 1; }\nKERNEL(int)\nKERNEL(float)\n";
  EXPECT_EQ(left_of(made + "int main() { return 0; }\n"), made);
}

// PyTorch's extensions write one launcher for each kernel.
TEST(HostCode, MacrosOfLaunchersGo) {
  const std::string macro = "#define RUN(K) void run_##K(torch::Tensor x) { K<<<1, 32>>>(x.data_ptr<float>()); }\n";
  const std::string kernel = "__global__ void k(float* x) { x[0] = 1; }\n";
  EXPECT_EQ(left_of(macro + "RUN(k)\nRUN(l);\n" + kernel), macro + kernel);
  const std::string check = "#define CHECK(x) TORCH_CHECK(x)\n";
  EXPECT_EQ(left_of(check + kernel + "CHECK(1)\n"), check + kernel);
}

TEST(HostCode, AMacroThatGetsAHostFunctionGoesWithIt) {
  const std::string macro = "#define OFFER(N, F) namespace { const bool of_##N = Offers<decltype(&F)>::add(F); }\n";
  const std::string kernel = "__global__ void k(float* x) { x[0] = 1; }\n";
  const std::string start = "void start_k(float* x) { k<<<1, 32>>>(x); }\n";
  EXPECT_EQ(left_of(macro + kernel + start + "OFFER(k, start_k)\n"), macro + kernel);
  EXPECT_EQ(left_of(macro + kernel + start + "OFFER(k, start_k);\n"), macro + kernel);
  // One that gets device code may be device code.
  const std::string device = "__device__ float twice(float v) { return 2 * v; }\nOFFER(k, twice)\n";
  EXPECT_EQ(left_of(macro + device + kernel + start), macro + device + kernel);
}

// What g++ predefines and the runtime's header brings, without a header that declares it.
TEST(HostCode, NamesThatNvccHasWithoutAHeaderAreThere) {
  EXPECT_TRUE(with_implied_headers("__global__ void k(int8_t* x) {}").starts_with("#include"));
  Compiler compiler({});
  if (auto version = compiler.nvrtc_version(); !version) GTEST_SKIP() << version.error().message;
  CompileRequest request;
  request.file_name = "k.cu";
  request.entry = "k";
  request.arch = 89;
  request.source =
      "__global__ void k(int8_t* x, uint64_t n, float* y) { x[n] = 1; y[n] = fminf(y[n], __FLT_MAX__ + __INT_MAX__); "
      "}\n";
  const auto variant = compiler.compile(request);
  EXPECT_TRUE(variant) << variant.error().message;
}

TEST(HostCode, OnlyTheHostMembersOfADeviceClassGo) {
  EXPECT_EQ(left_of("struct Buffer {\n  float* p;\n  Buffer(int n) { cudaMalloc(&p, n); }\n  __device__ float at(int "
                    "i) { return p[i]; }\n};\n"),
            "struct Buffer {\n  float* p;\n  __device__ float at(int i) { return p[i]; }\n};\n");
}

TEST(HostCode, InNamespacesIsFoundToo) {
  EXPECT_EQ(left_of("namespace a {\nnamespace {\nint host() { return 1; }\n__device__ int dev() { return 1; }\n}\n}\n"),
            "namespace a {\nnamespace {\n__device__ int dev() { return 1; }\n}\n}\n");
}

TEST(HostCode, BracesThatCannotBeFollowedLeaveTheSourceAlone) {
  for (const char* source : {"int main() { return 0; ", "int main() ( }", "}{", "#define A {\nint f() { }\n)"})
    EXPECT_EQ(without_host_code(source), source);
}

TEST(HostCode, ClassesInClassesAndHashesEndAsDeepAsTheyAre) {
  std::string open, close;
  for (int i = 0; i < 100000; ++i) open += "struct a{ std::vector<int> v; __device__ int f(); ", close += "};";
  EXPECT_EQ(without_host_code(open + close).size(), open.size() + close.size());
  EXPECT_EQ(with_implied_headers(std::string(1000000, '#')), std::string(1000000, '#'));
  std::string commented;
  for (int i = 0; i < 100000; ++i) commented += "#/**/";
  EXPECT_EQ(with_implied_headers(commented), commented);
}

TEST(HostCode, AByteOrderMarkBecomesBlank) {
  EXPECT_EQ(without_host_code("\xEF\xBB\xBF#define A 1\n"), "   #define A 1\n");
}

TEST(BuiltinHeaders, HaveEachNameOnce) {
  std::vector<std::string> names;
  for (const cuda_api::NvrtcHeader& header : builtin_headers()) names.emplace_back(header.name);
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

// A file for nvcc, compiled with the compiler of this machine.
TEST(HostCode, AFileForNvccCompiles) {
  Compiler compiler({});
  if (auto version = compiler.nvrtc_version(); !version) GTEST_SKIP() << version.error().message;
  std::string source;
  for (const cuda_api::NvrtcHeader& header : builtin_headers())
    if (std::string_view(header.name).find("tor") == std::string_view::npos &&
        std::string_view(header.name).find("AT") == std::string_view::npos)
      source += std::string("#include <") + header.name + ">\n";
  source += R"(
using namespace std;
typedef float (*Unary)(float);
template <class T> struct Sum { __device__ T operator()(T a, T b) const { return a + b; } T zero() const { return T(0); } };
static_assert(std::is_same_v<std::conditional_t<true, int, float>, int> && std::is_signed_v<char>, "");
constexpr int half_of(int n) { return n / 2; }
const float kTable[3] = {1.f, 2.f, 3.f};
namespace lib {
template <typename T, int N> __global__ void kernel(const T* in, T* out, int64_t n) {
  __shared__ T tile[half_of(N)];
  const uint32_t i = threadIdx.x;
  assert(n > 0);
  tile[i % half_of(N)] = std::min(in[i], std::numeric_limits<T>::max());
  __syncthreads();
  out[i] = isinf(tile[0]) ? INFINITY : Sum<T>()(tile[i % half_of(N)], kTable[i % 3]) + FLT_EPSILON * M_PI;
  if (i == 0) printf("%d\n", INT_MAX);
}
}
int main() { std::vector<float> v(3); lib::kernel<float, 64><<<1, 64>>>(v.data(), v.data(), 3); std::cout << v[0]; }
)";
  for (const int arch : {80, 90}) {
    CompileRequest request;
    request.source = source;
    request.file_name = "plain.cu";
    request.entry = "lib::kernel<float, 64>";
    request.dtype.reset();
    request.arch = arch;
    auto variant = compiler.compile(request);
    ASSERT_TRUE(variant) << variant.error().message << "\n" << variant.error().hint;
    EXPECT_NE((*variant)->entry_symbol.find("kernel"), std::string::npos);
    EXPECT_EQ((*variant)->info.log.find("error"), std::string::npos);
  }
}

TEST(HostCode, HandlesOfHostLibrariesGo) {
  EXPECT_EQ(left_of("static cublasHandle_t handle;\nstruct Plan { cudaStream_t stream; int n; };\n"
                    "__device__ curandState_t* state;\ncudnnTensorDescriptor_t a, b;\n"),
            "__device__ curandState_t* state;\n");
}

// What nvcc includes by itself is available, and lines keep their numbers.
TEST(HostCode, WhatNvccIncludesByItselfIsThere) {
  const std::string plain = "__global__ void k(float* x) { x[0] = 1; }\n";
  EXPECT_EQ(with_implied_headers(plain), plain);
  EXPECT_EQ(with_implied_headers("// std::min\n" + plain), "// std::min\n" + plain);
  Compiler compiler({});
  CompileRequest request;
  request.file_name = "k.cu";
  request.entry = "k";
  request.source = R"(#define LEAST -INFINITY
template <class T, std::enable_if_t<std::is_same<T, float>::value, int> = 0> __device__ T least(T a) { return a; }
__global__ void k(float* x, uint n) { x[n] = std::max(LEAST, least(std::numeric_limits<float>::max())) * M_PI; }
)";
  const auto variant = compiler.compile(request);
  ASSERT_TRUE(variant) << variant.error().message << variant.error().hint;
  request.source.replace(request.source.find("std::max"), 8, "std::gone");
  const auto refused = compiler.compile(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message.substr(0, 8), "k.cu:3: ") << refused.error().message;
}

TEST(HostCode, AHeaderThatIsNowhereIsNamed) {
  Compiler compiler({});
  CompileRequest request;
  request.file_name = "k.cu";
  request.entry = "k";
  request.source = "\n#include \"common.h\"\n__global__ void k(float* x) { *x = OF_THE_HEADER; }\n";
  const auto refused = compiler.compile(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "k.cu:2: there is no header common.h");
  EXPECT_NE(refused.error().hint.find("attnscope import"), std::string::npos);
  request.source = "#include <cute/tensor.hpp>\n__global__ void k(cute::half_t* x) {}\n";
  const auto cutlass = compiler.compile(request);
  ASSERT_FALSE(cutlass);
  EXPECT_EQ(cutlass.error().message, "k.cu:1: there is no header cute/tensor.hpp");
  EXPECT_NE(cutlass.error().hint.find("\"headers\": [\"cutlass\"]"), std::string::npos);
}

TEST(HostCode, AUsingDeclarationGoesWithItsFunction) {
  const std::string kept = without_host_code(
      "namespace a { void run() { k<<<1, 1>>>(); } __device__ int f() { return 1; } }\nusing a::run;\nusing a::f;\n");
  EXPECT_EQ(kept.find("run"), std::string::npos) << kept;
  EXPECT_NE(kept.find("using a::f;"), std::string::npos) << kept;
}

TEST(HostCode, AStorageClassThatCpp17DroppedGoes) {
  EXPECT_EQ(without_host_code("__device__ int f() { register int a = 1; return a; }\n"),
            "__device__ int f() {          int a = 1; return a; }\n");
}

TEST(HostCode, BenchmarksOfALibraryGo) {
  const std::string kept = without_host_code(
      "void bench(nvbench::state& state) { run(state); }\nNVBENCH_BENCH(bench).add_int64_axis(\"n\", {1, 2});\nint "
      "x;\n");
  EXPECT_EQ(kept.find("nvbench"), std::string::npos) << kept;
  EXPECT_EQ(kept.find("NVBENCH"), std::string::npos) << kept;
}

}  // namespace
}  // namespace attnscope::compile
