// A kernel's parameter that is a struct: its members are read as parameters are, and passed as C++ lays them out.
#include "catalog/struct_parameters.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>

#include "catalog/import.h"
#include "catalog/workload.h"
#include "unit/catalog/support.h"

namespace attnscope::catalog {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Imported read_in(const std::string& source) {
  auto imported = import_kernel("k.cu", source, "");
  if (!imported) {
    ADD_FAILURE() << imported.error().message;
    return {};
  }
  return *imported;
}
Json manifest_in(const std::string& source) { return *parse_json(read_in(source).manifest, "k.json"); }

const std::string kRows =
    "struct Rows { const float* in; float* out; int rows, width; float scale; };\n"
    "__global__ void k(Rows r) {\n"
    "  float* out = r.out;\n"
    "  const int i = blockIdx.x * r.width + threadIdx.x;\n"
    "  if (threadIdx.x < r.width) out[i] = r.scale * r.in[i];\n"
    "}\n";

TEST(StructParameters, TheMembersAreReadAsParametersAre) {
  const Imported one =
      read_in(kRows +
              "void run(const Rows& given) { dim3 grid(given.rows); k<<<grid, 128>>>(given); }\n"
              "int main() { Rows some; some.rows = 32; some.width = 64; some.scale = 2.0f; run(some); }\n");
  const Json json = *parse_json(one.manifest, "k.json");
  EXPECT_EQ(json["sizes"], Json({{"r_rows", 32}, {"r_width", 64}}));
  EXPECT_EQ(json["launch"]["grid"], Json({"r_rows", "1", "1"}));
  EXPECT_EQ(json["args"],
            Json::parse(R"([{"struct": ["r_in", "r_out", "r_rows", "r_width", {"value": 2, "type": "f32"}]}])"));
  EXPECT_EQ(json["buffers"][0]["role"], "in");
  EXPECT_EQ(json["buffers"][1]["role"], "out");
  EXPECT_THAT(one.read, Contains("r_rows is 32 in the host code"));
  EXPECT_THAT(one.read, Contains("r_out is an output: the kernel only stores to it"));
  EXPECT_TRUE(parse_kernel({"k.json", one.manifest, "k.cu", kRows}));
}

TEST(StructParameters, APointersAllocationIsThatOfWhatTheMemberIsSetTo) {
  const std::string begin = "int main() { float *a, *b; const int n = 96; cudaMalloc(&a, n * sizeof(float)); ";
  const Imported set = read_in(kRows + begin + "Rows r{a, b, 4, n, 1.f}; k<<<4, 32>>>(r); }\n");
  EXPECT_THAT(set.read, Contains("r_in has 96 elements, as it is allocated"));
  EXPECT_THAT(set.read, Not(Contains(StartsWith("r_out has"))));
  const Imported moved = read_in(kRows + begin + "Rows r{a, b, 4, n, 1.f}; a = b; k<<<4, 32>>>(r); }\n");
  EXPECT_THAT(moved.read, Not(Contains(StartsWith("r_in has"))));
}

TEST(StructParameters, AMemberOfWhichNothingIsSaidIsASizeOrAGuess) {
  const Imported one = read_in(kRows + "void run(Rows r) { k<<<(r.rows + 3) / 4, 128>>>(r); }\n");
  const Json json = *parse_json(one.manifest, "k.json");
  EXPECT_EQ(json["launch"]["grid"][0], "ceil_div(r_rows, 4)");
  EXPECT_THAT(one.guessed, Contains("the size r_rows = 1024"));
  EXPECT_THAT(one.guessed, Contains("r_scale is passed as 1"));
  EXPECT_EQ(one.open_values, (std::set<size_t>{0}));
}

// Only what holds at the launch counts as read.
TEST(StructParameters, WhatACallersStructMayHaveBecomeIsAGuess) {
  const std::string main = "int main() { Rows some; some.rows = 32; some.width = 64; run(some); }\n";
  for (const char* body :
       {"r.rows = best(); k<<<4, 32>>>(r);", "fill(&r); k<<<4, 32>>>(r);", "r = other; k<<<4, 32>>>(r);",
        "++r.rows; k<<<4, 32>>>(r);", "if (r.rows > 4) r.rows = 2; k<<<4, 32>>>(r);", "Rows q = r; k<<<4, 32>>>(q);"}) {
    const Imported one = read_in(kRows + "void run(Rows r) { " + body + " }\n" + main);
    EXPECT_THAT(one.read, Not(Contains(HasSubstr("r_rows is")))) << body;
  }
  const Imported branch = read_in(kRows + "void run(Rows r) { k<<<4, 32>>>(r); }\n" +
                                  "int main() { Rows some; if (f()) some.rows = 32; some.width = 64; run(some); }\n");
  EXPECT_THAT(branch.read, Not(Contains(HasSubstr("r_rows is"))));
  EXPECT_THAT(branch.read, Contains("r_width is 64 in the host code"));
  // The grid's value of the member is another one than the kernel's.
  const Imported early = read_in(kRows + "void run(Rows r) { int g = r.rows; fill(&r); k<<<g, 32>>>(r); }\n");
  EXPECT_THAT(early.read, Not(Contains(StartsWith("the grid: "))));
}

TEST(StructParameters, AMemberThatIsSetFromOtherMembersFollowsThem) {
  const std::string kernel =
      "struct Gemm { int m, n; long long stride; float scale; };\n"
      "__global__ void k(const float* x, float* y, Gemm g) {\n"
      "  y[blockIdx.z * g.stride + threadIdx.x] = g.scale * x[threadIdx.x] * g.m * g.n;\n}\n";
  for (const char* stride : {"g.m * g.n", "(long long)g.m * g.n"}) {
    const Imported one = read_in(kernel + "int main() { Gemm g; g.m = 100; g.n = 36; g.stride = " + stride +
                                 "; g.scale = 1.0f / g.m; const int batch = 6;\n"
                                 "  float *x, *y; cudaMalloc(&y, sizeof(float) * g.stride * batch);\n"
                                 "  k<<<dim3(1, 1, batch), 32>>>(x, y, g); }\n");
    const Json json = *parse_json(one.manifest, "k.json");
    EXPECT_EQ(json["sizes"], Json({{"g_m", 100}, {"g_n", 36}}));
    EXPECT_THAT(one.read, Contains("g_stride is g_m * g_n")) << stride;
    EXPECT_THAT(one.read, Contains("g_scale is 0.01 at the launch")) << stride;
    EXPECT_THAT(one.read, Contains(HasSubstr("y has (g_m * g_n) * 6 elements"))) << stride;
  }
  // What a member was before is not what the launch passes.
  const Imported early = read_in(kernel +
                                 "int main() { Gemm g; g.m = 100; g.stride = g.m * 2; g.m = 50; g.n = 36;\n"
                                 "  float *x, *y; k<<<4, 32>>>(x, y, g); }\n");
  EXPECT_THAT(early.read, Not(Contains(StartsWith("g_stride is"))));
}

// The text may come from anyone, so there is an end to it.
TEST(StructParameters, ItIsFollowedThroughEightFunctions) {
  for (const int functions : {8, 9}) {
    std::string host = "void run1(Rows r) { k<<<4, 32>>>(r); }\n";
    for (int i = 2; i <= functions; ++i) host += fmt::format("void run{}(Rows r) {{ run{}(r); }}\n", i, i - 1);
    host += fmt::format("int main() {{ Rows some; some.rows = 32; some.width = 64; run{}(some); }}\n", functions);
    const Imported one = read_in(kRows + host);
    EXPECT_EQ(std::ranges::count(one.read, "r_width is 64 in the host code"), functions == 8) << functions;
  }
}

TEST(StructParameters, AStructThatTheKernelHandsOnMayBeWrittenThere) {
  const Imported one = read_in(
      "struct Rows { float *in, *out; int n; };\n__device__ void store(Rows r) { r.in[0] = 1; }\n"
      "__global__ void k(Rows r) { r.out[threadIdx.x] = r.in[threadIdx.x]; store(r); }\n");
  EXPECT_THAT(one.read, Not(Contains(StartsWith("r_in is an input"))));
  EXPECT_THAT(one.read, Not(Contains(StartsWith("r_out is an output"))));
  EXPECT_THAT(one.guessed, Contains(StartsWith("r_in is read and written")));
}

// The same struct for this compiler, with CUDA's alignments.
struct alignas(8) Float2 {
  float x, y;
};
struct alignas(16) Float4 {
  float x, y, z, w;
};
struct Inner {
  int8_t flag;
  double weight;
};
struct Outer {
  int8_t mode;
  Float2 shift;
  int16_t count;
  Inner inner;
  const float* in;
  bool last;
  Float4 box;
  float ratios[3];
  int64_t stride;
  uint8_t end;
};

TEST(StructParameters, TheLayoutIsThatOfCpp) {
  const std::string source =
      "struct Inner { signed char flag; double weight; };\n"
      "struct Outer { signed char mode; float2 shift; short count; Inner inner; const float* in; bool last; float4 "
      "box;\n"
      "  float ratios[3]; long long stride; unsigned char end; static constexpr int kTile = 4; };\n"
      "__global__ void k(Outer o, float* y) { y[0] = o.in[0] + o.inner.weight + o.stride; }\n";
  const Imported one = read_in(source);
  const auto kernel = parse_kernel({"k.json", one.manifest, "k.cu", source});
  ASSERT_TRUE(kernel) << kernel.error().message;
  const auto work = workload_of(*kernel, kernel->default_problem(), config_of(*kernel, {}));
  ASSERT_TRUE(work) << work.error().message;
  const ArgumentValue& value = work->arguments[0];
  EXPECT_EQ(value.bytes.size(), sizeof(Outer)) << one.manifest;
  ASSERT_EQ(value.addresses.size(), 1u);
  EXPECT_EQ(value.addresses[0].at, offsetof(Outer, in));
  Outer filled{};
  std::memcpy(&filled, value.bytes.data(), std::min(sizeof filled, value.bytes.size()));
  EXPECT_EQ(filled.shift.y, 1);
  EXPECT_EQ(filled.inner.weight, 1);
  EXPECT_EQ(filled.box.w, 1);
  EXPECT_EQ(filled.ratios[2], 1);
  EXPECT_EQ(filled.stride, kernel->default_problem().sizes.at("o_stride"));
  EXPECT_EQ(filled.end, 1);
}

TEST(StructParameters, ATypedefAClassWithAConstructorAndAMemberOfAStructArePassed) {
  const Json json = manifest_in(
      "typedef struct tag { float* data; int n; } View;\n"
      "struct Pair { View from, to; Pair(View a, View b) : from(a), to(b) {} __device__ int size() const { return "
      "to.n; } };\n"
      "__global__ void k(const Pair p) { p.to.data[threadIdx.x] = p.from.data[p.from.n]; }\n");
  EXPECT_EQ(json["args"][0]["struct"], Json({"p_from_data", "p_from_n", "p_to_data", "p_to_n"}));
  EXPECT_EQ(json["buffers"][0]["role"], "in");
  EXPECT_EQ(json["buffers"][1]["role"], "out");
}

TEST(StructParameters, ARefusalSaysWhatTheStructHas) {
  const auto refusal = [](const std::string& type) {
    const auto imported = import_kernel("k.cu", type + "\n__global__ void k(P p, float* y) { y[0] = p.n; }", "");
    return imported ? "passed" : imported.error().message;
  };
  EXPECT_THAT(refusal("struct P { int n; virtual void f(); };"), HasSubstr("it has a virtual function"));
  EXPECT_THAT(refusal("struct P { int n : 3; int m : 5; };"), HasSubstr("it has a bit field"));
  EXPECT_THAT(refusal("struct P { int& n; };"), HasSubstr("it has a reference"));
  EXPECT_THAT(refusal("struct P : Q { int n; };"), HasSubstr("it has a base class"));
  EXPECT_THAT(refusal("union P { int n; float x; };"), HasSubstr("it is a union"));
  EXPECT_THAT(refusal("struct P { int n; alignas(4) int m; };"), HasSubstr("one that is aligned"));
  EXPECT_THAT(refusal("struct P { int n; void (*f)(int); };"), HasSubstr("a pointer to a function"));
  EXPECT_THAT(refusal("struct E {}; struct A { E a[256]; }; struct B { A a[256]; }; struct C { B a[256]; }; "
                      "struct D { C a[256]; }; struct P { D a[256]; };"),
              HasSubstr("not plain"));
  EXPECT_THAT(refusal("struct P { float* rows[4]; int n; };"), HasSubstr("an array of pointers"));
  EXPECT_THAT(refusal("struct P { std::vector<int> n; };"), HasSubstr("another type that is not plain"));
  EXPECT_THAT(refusal(""), HasSubstr("no file that was read declares it"));
  EXPECT_EQ(refusal("struct P { int n; };"), "passed");
}

// Sizes of a kernel are few; a struct of many numbers has none.
TEST(StructParameters, OfManyNumbersNoneIsASize) {
  std::string members;
  for (int i = 0; i < 40; ++i) members += "int n" + std::to_string(i) + "; ";
  const Json json =
      manifest_in("struct P { float* y; " + members + "};\n__global__ void k(P p) { p.y[p.n3] = p.n4; }\n");
  EXPECT_EQ(json["sizes"].size(), 1u);
  EXPECT_EQ(json["args"][0]["struct"].size(), 41u);
}

}  // namespace
}  // namespace attnscope::catalog
