#include "catalog/import_values.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "catalog/import.h"
#include "unit/catalog/support.h"

namespace attnscope::catalog {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Imported imported(const std::string& source, const std::string& entry = "k") {
  const auto one = import_kernel("k.cu", source, entry);
  if (!one) throw std::runtime_error(one.error().message);
  EXPECT_TRUE(parse_kernel({"k.json", one->manifest, "k.cu", source})) << one->manifest;
  return *one;
}
Json args_of(const Imported& one) { return (*parse_json(one.manifest, "manifest"))["args"]; }

TEST(ImportValues, AreComputedAsTheHostDoes) {
  const Imported one = imported(
      "__global__ void k(float* x, float scale, float half, double eps, float third, int n) {}\n"
      "int main() {\n  const int d = 64, n = 256;\n  float alpha = 2.0f;\n"
      "  k<<<1, 32>>>(0, alpha / sqrtf((float)d), -0.5f, 1e-5, 7 / 2, n);\n}\n");
  const Json args = args_of(one);
  EXPECT_EQ(args[1]["value"], 0.25);
  EXPECT_EQ(args[2]["value"], -0.5);
  EXPECT_EQ(args[3]["value"], 1e-5);
  EXPECT_EQ(args[4]["value"], 3) << "whole numbers divide without a rest";
  EXPECT_THAT(one.read, Contains("scale is 0.25 at the launch"));
}

TEST(ImportValues, ANameIsANumberOfItsType) {
  const auto value = [](const std::string& host, const std::string& passed) {
    const Imported one = imported("__global__ void k(float* x, float scale) {}\nint main() {\n  " + host +
                                  "\n  k<<<1, 32>>>(0, " + passed + ");\n}\n");
    return std::ranges::any_of(one.read, [](const std::string& said) { return said.starts_with("scale is "); })
               ? args_of(one)[1]["value"].dump()
               : "";
  };
  EXPECT_EQ(value("float d = 64;", "1 / d"), "0.015625");
  EXPECT_EQ(value("const double c = 1, d = 64;", "1 / d"), "0.015625");
  EXPECT_EQ(value("unsigned long d = 64;", "100 / d"), "1");
  EXPECT_EQ(value("int n = 7.5f;", "n"), "7");
  EXPECT_EQ(value("auto d = 64.0f;", "1 / d"), "0.015625");
  EXPECT_EQ(value("real d = 64;", "1 / d"), "") << "its type is not read";
  EXPECT_EQ(value("real d = 64;", "128 / d"), "2");
  EXPECT_EQ(value("real d = 64;", "1.0f / d"), "0.015625");
  EXPECT_EQ(value("", "010"), "") << "octal";
}

TEST(ImportValues, OfOtherFunctionsAndChangedNamesAreGuesses) {
  const Imported one = imported(
      "__global__ void k(float* x, float a, float b, int n, int m) {}\n"
      "int main() {\n  float a = 1, b = 2; int n = 5, m = 7;\n  b *= 3;\n  scanf(\"%d\", &n);\n  std::cin >> m;\n"
      "  k<<<1, 32>>>(0, a, b, n, m);\n}\n");
  EXPECT_THAT(one.read, Contains("a is 1 at the launch"));
  EXPECT_THAT(one.guessed, Contains(HasSubstr("b is passed as 2, as elsewhere")));
  EXPECT_THAT(one.guessed, Contains("the size n = 5, as elsewhere in the host code"));
  EXPECT_THAT(one.guessed, Contains("the size m = 7, as elsewhere in the host code"));
}

// What takes a name as a reference may give it another value: here the number of threads.
TEST(ImportValues, ANameThatACallTakesAsAReferenceIsAGuess) {
  const Imported one = imported(
      "__global__ void k(float* x, int n, int m) { extern __shared__ float s[]; }\n"
      "void choose(int most, int& threads, const int& blocks) { threads = most / 2; }\n"
      "int main() {\n  int n = 5, m = 7, threads = 0;\n  choose(n, threads, m);\n"
      "  k<<<1, threads, threads * 4>>>(0, n, m);\n}\n");
  EXPECT_THAT(one.read, Not(Contains(HasSubstr("shared"))));
  EXPECT_THAT(one.read, Contains("n is 5 in the host code"));
  EXPECT_THAT(one.read, Contains("m is 7 in the host code"));
  const Imported swapped = imported(
      "__global__ void k(float* x, int n, int m) {}\n"
      "int main() {\n  int n = 5, m = 7;\n  std::swap(n, m);\n  k<<<1, 32>>>(0, n, m);\n}\n");
  EXPECT_THAT(swapped.guessed, Contains("the size n = 5, as elsewhere in the host code"));
}

// What gets the address of a name may give it another value, whichever argument it is.
TEST(ImportValues, ANameWhoseAddressACallGetsIsAGuess) {
  const Imported one = imported(
      "__global__ void k(float* x, int rank, float scale, int n, float kept) {}\n"
      "int main() {\n  int rank = 0, n = 64; float scale = 2, kept = 3; \n"
      "  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n  get(f(1, 2), (void*)&scale);\n"
      "  cudaMallocArray((void**)&kept, &n, 4, 4);\n  k<<<1, 32>>>(0, rank, scale, n, kept);\n}\n");
  EXPECT_THAT(one.read, Not(Contains(HasSubstr("rank is"))));
  EXPECT_THAT(one.read, Not(Contains(HasSubstr("scale is"))));
  EXPECT_THAT(one.guessed, Contains("the size n = 64, as elsewhere in the host code"));
  const Imported kept = imported(
      "__global__ void k(float* x, float kept) {}\n"
      "int main() { float kept = 3; cudaMalloc((void**)&kept, 4); k<<<1, 32>>>(0, kept); }\n");
  EXPECT_THAT(kept.read, Contains("kept is 3 at the launch"));
}

TEST(ImportValues, AZeroIsNoSize) {
  const Imported one = imported(
      "__global__ void k(float* x, int first, int below, unsigned top, int n) {}\n"
      "int main() {\n  int start = 0, n = 64;\n  k<<<1, 32>>>(0, start, -3, 0, n);\n}\n");
  EXPECT_THAT(one.read, Contains("first is 0 at the launch"));
  EXPECT_THAT(one.read, Contains("below is -3 at the launch"));
  const Json args = args_of(one);
  EXPECT_EQ(args[1]["value"], 0);
  EXPECT_EQ(args[2]["value"], -3);
  EXPECT_EQ(args[3]["value"], 0);
  EXPECT_EQ(args[4], "n");
}

// In the loop's body: behind it the counter has another value, or is another name.
TEST(ImportValues, ACounterHasItsFirstValueInTheLoop) {
  const std::string kernel = "__global__ void k(float* x, int step, int n) {}\n";
  const Imported one =
      imported(kernel + "int main() { int n = 64; for (int i = 3; i < n; i++) k<<<1, 32>>>(0, i + 2, n); }\n");
  EXPECT_THAT(one.read, Contains("step is 5 in the host code"));
  const Imported declared_before =
      imported(kernel + "int main() { int n = 64; int i; for (i = 4; i < n; ++i) k<<<1, 32>>>(0, i, n); }\n");
  EXPECT_THAT(declared_before.read, Contains("step is 4 in the host code"));
  const Imported changed =
      imported(kernel + "int main() { int n = 64; for (int i = 3; i < n;) { i += n; k<<<1, 32>>>(0, i, n); } }\n");
  EXPECT_THAT(changed.read, Not(Contains(HasSubstr("step is"))));
  const Imported behind = imported(
      kernel + "int i = 9;\nint main() { int n = 64; for (int i = 3; i < n; i++) f(i); k<<<1, 32>>>(0, i, n); }\n");
  EXPECT_THAT(behind.read, Not(Contains(HasSubstr("step is"))));
  EXPECT_THAT(behind.guessed, Contains("the size step = 9, as elsewhere in the host code"));
  const Imported behind_block = imported(
      kernel + "int main() { int n = 64; for (int i = 3; i < n; i++) if (n) { f(i); } k<<<1, 32>>>(0, i, n); }\n");
  EXPECT_THAT(behind_block.read, Not(Contains(HasSubstr("step is"))));
  for (const char* first : {"f(i);", "{ f(i); }"}) {
    const Imported otherwise = imported(kernel + "int main() { int n = 64; for (int i = 3; i < n; i++) if (i == n) " +
                                        first + " else k<<<1, 32>>>(0, i, n); }\n");
    EXPECT_THAT(otherwise.read, Contains("step is 3 in the host code")) << first;
  }
}

// A statement may be as long as the file, and there may be as many loops.
TEST(ImportValues, TheEndOfALongLoopIsNotLookedFor) {
  for (const int terms : {100, 1000}) {
    std::string sum = "0";
    for (int i = 0; i < terms; ++i) sum += " + 0";
    const Imported one = imported(
        "__global__ void k(float* x, int step, int n) {}\n"
        "int main() { int n = 64, y; for (int i = 3; i < n; i++) if (n) y = " +
        sum + "; else k<<<1, 32>>>(0, i, n); }\n");
    EXPECT_EQ(std::ranges::count(one.read, "step is 3 in the host code"), terms == 100) << terms;
  }
}

TEST(ImportValues, AnIndexByItsNameIsNoSize) {
  for (const char* name : {"seed", "rowOffset", "row_idx", "is_causal", "d_seed", "bit"})
    EXPECT_TRUE(counts_nothing(name)) << name;
  for (const char* name : {"n", "rows", "width", "seedling", "offsets", "batch", "Bits", "iter", "step", ""})
    EXPECT_FALSE(counts_nothing(name)) << name;
  const Imported one = imported("__global__ void k(float* x, unsigned long long seed, int n) { x[0] = seed + n; }");
  EXPECT_EQ(args_of(one)[1]["value"], 0);
  EXPECT_THAT(one.guessed, Contains("x has [\"n\"] elements"));
}

TEST(ImportValues, AStructHasWhatTheHostGivesItsMembers) {
  const std::string kernel =
      "struct Rope { int heads, dim; float base; const float* table; };\n"
      "__global__ void k(float* x, Rope a, int n) { x[0] = a.table[n]; }\n";
  const auto members = [&](const std::string& body) {
    const Json json =
        *parse_json(imported(kernel + "int main() { int heads = 8; float* t;\n" + body + " }\n").manifest, "manifest");
    Json found = json["args"][1]["struct"];
    for (Json& one : found)  // a size has a name
      if (one.is_string() && json["sizes"].contains(one.get<std::string>()))
        one = json["sizes"][one.get<std::string>()];
    return found;
  };
  const Json braces = members("Rope r{heads, 64, 1e4f, t}; k<<<1, 32>>>(0, r, 5);");
  EXPECT_EQ(braces, Json({8, 64, {{"value", 10000}, {"type", "f32"}}, "a_table"}));
  EXPECT_EQ(members("Rope r = {heads, 64, 1e4f, t}; k<<<1, 32>>>(0, r, 5);"), braces);
  EXPECT_EQ(members("k<<<1, 32>>>(0, Rope{heads, 64, 1e4f, t}, 5);"), braces);
  EXPECT_EQ(members("Rope r; r.heads = heads; r.dim = 64; r.base = 1e4f; k<<<1, 32>>>(0, r, 5);"), braces);
  const Json unknown = members("Rope r; fill(r); r.dim = 64; k<<<1, 32>>>(0, r, 5);");
  EXPECT_EQ(unknown[0], 4) << "a guess";
  EXPECT_EQ(unknown[1], 64);
  const Json rest = members("Rope r{heads}; k<<<1, 32>>>(0, r, 5);");
  EXPECT_EQ(rest[0], 8);
  EXPECT_EQ(rest[1]["value"], 0) << "what the braces leave out";
  const Json read =
      members("Rope r; r.dim = 64; int all = r.dim * heads; k<<<1, 32>>>(0, r, 5); k<<<1, 32>>>(0, r, 5);");
  EXPECT_EQ(read[1], 64);
}

// Where the host code may have given a member another value, or none, it is a guess.
TEST(ImportValues, AMemberIsNotReadAcrossBranchesAndOtherUses) {
  for (const char* body :
       {"if (f()) { r.dim = 64; }", "if (f()) r.dim = 64;", "if (f()) g(); else r.dim = 64;", "r.dim = 64; r.dim += 2;",
        "r.dim = 64; ++r.dim;", "r.dim = 64; r.dim--;", "r.dim = 64; fill(&r);", "r.dim = 64; r = other;",
        "r.dim = 64; if (f()) { r.dim = 32; }", "r.dim = 64; set(r.dim);", "r.dim = 64; set(&r.dim);",
        "r.dim = 64; Rope& same = r;", "r.dim = 64; if (f()) r = Rope{1, 2};", "if (f()) { r = Rope{1, 64}; }",
        "r.dim = 64; std::cin >> r.dim;"}) {
    const Imported one = imported(
        "struct Rope { int heads, dim; };\n"
        "__global__ void k(float* x, Rope a, int n) { x[0] = a.dim; }\n"
        "int main() { Rope r; " +
        std::string(body) + " k<<<1, 32>>>(0, r, 5); }\n");
    EXPECT_EQ(args_of(one)[1]["struct"][1], "a_dim") << body;
    EXPECT_THAT(one.guessed, Contains(StartsWith("the size a_dim = "))) << body;
    EXPECT_THAT(one.read, Not(Contains(HasSubstr("a_dim is")))) << body;
  }
}

TEST(ImportValues, AnEnumerationIsANumberOfItsType) {
  const Imported one = imported(
      "namespace lib { enum class Border : unsigned char { clamp, wrap = 4, mirror }; enum Mode { off, on }; }\n"
      "__global__ void k(float* x, lib::Border border, lib::Mode mode, lib::Mode other, int n) {}\n"
      "int main() { k<<<1, 32>>>(0, lib::Border::mirror, lib::on, any(), 64); }\n");
  const Json args = args_of(one);
  EXPECT_EQ(args[1], Json({{"value", 5}, {"type", "u8"}}));
  EXPECT_EQ(args[2], Json({{"value", 1}, {"type", "i32"}}));
  EXPECT_EQ(args[3], Json({{"value", 0}, {"type", "i32"}}));
  EXPECT_THAT(one.guessed, Contains("other is passed as 0"));
}

TEST(ImportValues, AnEnumeratorIsKnownByTheNamesThatItHas) {
  const Imported one = imported(
      "enum class Border { clamp = 3 };  enum Mode { off, on = 6 };  enum Other { on = 7 };\n"
      "__global__ void k(float* x, float plain, float scoped, float both, float mode, float other, float off) {}\n"
      "int main() { k<<<1, 32>>>(0, clamp, Border::clamp, on, Mode::on, Other::on, off); }\n");
  EXPECT_THAT(one.read, Not(Contains(HasSubstr("plain is"))));
  EXPECT_THAT(one.read, Contains("scoped is 3 at the launch"));
  EXPECT_THAT(one.read, Not(Contains(HasSubstr("both is"))));
  EXPECT_THAT(one.read, Contains("mode is 6 at the launch"));
  EXPECT_THAT(one.read, Contains("other is 7 at the launch"));
  EXPECT_THAT(one.read, Contains("off is 0 at the launch"));
}

TEST(ImportValues, AParameterListHasWhatItsConditionsKeep) {
  const Imported one = imported(
      "#define PACKED 0\n__global__ void k(\n#if PACKED\n  int* queries,\n#else\n  char* queries,\n#endif\n  int n) "
      "{ queries[0] = n; }");
  const Json buffers = (*parse_json(one.manifest, "manifest"))["buffers"];
  ASSERT_EQ(buffers.size(), 1u);
  EXPECT_EQ(buffers[0]["dtype"], "i8");
}

TEST(ImportValues, AnAllocationMayCountItsOwnElements) {
  const std::string kernel = "__global__ void k(double* x, float* y, int n) {}\n";
  const Imported one =
      imported(kernel +
               "int main() { const int n = 64; double *d_x, *h_x; float* y;\n"
               "cudaMalloc(&d_x, n * sizeof(h_x[0])); cudaMalloc(&y, n * sizeof(*d_x)); k<<<1, 32>>>(d_x, y, n); }\n");
  EXPECT_THAT(one.read, Contains("x has n elements, as it is allocated"));
  EXPECT_THAT(one.read, Not(Contains(HasSubstr("y has"))));
  for (const char* passed : {"reinterpret_cast<double*>(d_x)", "(double*)d_x"}) {
    const Imported cast = imported(kernel + "int main() { const int n = 64; float* d_x; float* y;\n" +
                                   "cudaMalloc(&d_x, n * sizeof(*d_x)); k<<<1, 32>>>(" + passed + ", y, n); }\n");
    EXPECT_THAT(cast.read, Not(Contains(HasSubstr("x has")))) << passed;
  }
}

// What the launch passes for a size stands for it in the grid and in the lengths too.
TEST(ImportValues, AProductThatTheLaunchPassesIsTheSize) {
  const std::string kernel = "__global__ void k(float* x, int rows, int cols) { x[rows * cols] = 1; }\n";
  const auto json_of = [](const Imported& one) { return *parse_json(one.manifest, "manifest"); };
  for (const char* said : {"k<<<(B * T * 32 + 255) / 256, 256>>>(x, B * T, V);",
                           "const int rows = B * T; k<<<(rows * 32 + 255) / 256, 256>>>(x, rows, V);"}) {
    const Json json = json_of(imported(kernel + "int main() { const int B = 8, T = 64, V = 1000; float* x;\n" +
                                       "cudaMalloc(&x, B * T * V * sizeof(float)); " + said + " }\n"));
    EXPECT_EQ(json["buffers"][0]["shape"], Json({"rows", "cols"})) << said;
    EXPECT_EQ(json["launch"]["grid"][0], "ceil_div(rows * 32, 256)") << said;
    EXPECT_EQ(json["sizes"]["rows"], 512) << said;
  }
  const auto grid_of = [&](const std::string& grid, const std::string& between = "") {
    return json_of(imported(kernel +
                            "int f(int B, int T) { return B; }\nint main() { int B = 8, T = 64, V = 10; float* x; " +
                            between + "k<<<" + grid + ", 256>>>(x, B * T, V); }\n"))["launch"]["grid"][0];
  };
  EXPECT_EQ(grid_of("2 * B * T"), "2 * rows");
  EXPECT_EQ(grid_of("2 * T * B"), "2 * rows") << "in any order";
  EXPECT_EQ(grid_of("1024 / B * T"), "8192") << "the quotient is of B only";
  EXPECT_EQ(grid_of("B * 2 * T"), "1024");
  EXPECT_EQ(grid_of("g", "int g = B * T; B = 4; "), "512") << "B is another one at the launch";
}

// Another value would change what the kernel is told, and not what it is given.
TEST(ImportValues, ASizeThatItsLaunchDoesNotFollowIsNone) {
  const std::string kernel = "__global__ void k(float* x, long long n, int turns) { x[n] = turns; }\n";
  const auto imported_with = [&](const std::string& launch) {
    return imported(kernel +
                    "int main() { const int B = 8, T = 64, turns = 7; float* x; cudaMalloc(&x, T * 2 * B * 4); " +
                    launch + " }\n");
  };
  const Imported one = imported_with("k<<<T / 2 * B, 32>>>(x, B * T, turns);");
  const Json json = *parse_json(one.manifest, "manifest");
  EXPECT_EQ(json["sizes"], Json({{"turns", 7}})) << "the launch has nothing to do with turns";
  EXPECT_EQ(json["args"][1], Json({{"value", 512}, {"type", "i64"}}));
  EXPECT_THAT(one.read, Contains(StartsWith("n is 512 at the launch and no size: ")));
  EXPECT_THAT(one.read, Not(Contains("n is 512 in the host code")));
  // The grid follows it.
  const Imported other = imported_with("k<<<B * T / 32, 32>>>(x, B * T, turns);");
  EXPECT_THAT(other.read, Contains("n is 512 in the host code"));
  const Imported cast = imported_with("k<<<(unsigned)B * T / 32, 32>>>(x, B * T, turns);");
  EXPECT_THAT(cast.read, Contains("n is 512 in the host code"));
}

TEST(ImportValues, AnAliasOfAPointerIsThatPointer) {
  const Imported one = imported(
      "typedef float number;\nusing real = number;\ntypedef real* Row;\n"
      "using Given = const unsigned int *;\n"
      "__global__ void k(Row __restrict__ x, Given y, const Row z, int n) { x[n] = y[n]; z[n] = 1; }\n");
  const Json json = *parse_json(one.manifest, "manifest");
  std::vector<std::string> said;
  for (const Json& buffer : json["buffers"])
    said.push_back(buffer["name"].get<std::string>() + " " + buffer["role"].get<std::string>() + " " +
                   buffer["dtype"].get<std::string>());
  EXPECT_EQ(said, (std::vector<std::string>{"x out f32", "y in u32", "z out f32"}));
}

// A manifest names no address before a buffer, and none whose offset nothing says.
TEST(ImportValues, AnAddressThatIsNotPassedIsNamed) {
  const Imported one = imported(
      "__global__ void k(float* x, const float* y, int n) { x[n] = y[n]; }\n"
      "void run(float* x, float* y, int n, int offset) { k<<<1, 32>>>(x - 4, y + offset, n); }\n");
  EXPECT_THAT(one.guessed, Contains("x begins at element 0 of its buffer: the launch passes x-4, which is before what "
                                    "the pointer leads to, and a manifest names no address before a buffer's begin"));
  EXPECT_THAT(one.guessed,
              Contains("y begins at element 0 of its buffer: the launch passes y+offset, and offset is not known"));
}

TEST(ImportValues, OfAQuotientThatTheLaunchPassesTheWholeFollows) {
  const std::string kernel = "__global__ void k(const half2* x, half2* y, int n2) { y[threadIdx.x] = x[n2]; }\n";
  const auto json_of = [&](const std::string& host) {
    return *parse_json(imported(kernel + "int main() { half *x, *y; " + host + " }\n").manifest, "manifest");
  };
  const std::string memory = "cudaMalloc(&x, N * sizeof(half)); cudaMallocManaged(&y, N * sizeof(half)); ";
  const std::string launch = "k<<<(N / 2 + 255) / 256, 256>>>((half2*)x, (half2*)y, N / 2);";
  const Json json = json_of("const int N = 1 << 16; " + memory + launch);
  EXPECT_EQ(json["sizes"]["n2"], 32768);
  EXPECT_EQ(json["launch"]["grid"][0], "ceil_div(n2, 256)");
  EXPECT_EQ(json["buffers"][0]["shape"], Json({"n2", "2"}));
  EXPECT_EQ(json["buffers"][1]["shape"], Json({"n2", "2"}));
  // N is not twice the size.
  const Json odd = json_of("const int N = 65537; " + memory + launch);
  EXPECT_EQ(odd["launch"]["grid"][0], "ceil_div(n2, 256)");
  EXPECT_EQ(odd["buffers"][0]["shape"], Json({"32768", "2"}));
}

TEST(ImportValues, WhatIsPassedForTwoSizesStandsForNeither) {
  const Json json =
      *parse_json(imported("__global__ void k(float* x, int rows, int columns) {}\n"
                           "int main() { const int a = 4, b = 8; float* x; k<<<a * b, 32>>>(x, a * b, a * b); }\n")
                      .manifest,
                  "manifest");
  EXPECT_EQ(json["launch"]["grid"][0], "32");
}

// A row's bytes rounded up to 512, as the runtime does.
TEST(ImportValues, APitchIsThatOfCudaMallocPitch) {
  const std::string kernel =
      "__global__ void k(const float* x, size_t pitch, int w, int h) { y[threadIdx.x] = x[w * h * pitch]; }\n";
  const Imported one = imported(kernel +
                                "int main() { const int w = 300, h = 200; float* x; size_t p, q;\n"
                                "cudaMallocPitch(&x, &p, w * sizeof(float), h); k<<<1, 32>>>(x, p, w, h); }\n");
  EXPECT_THAT(one.read, Contains("pitch is ceil_div(w * 4, 512) * 512"));
  EXPECT_THAT(one.read, Contains(HasSubstr("x has ceil_div(w * 4, 512) * h * 128 elements")));
  const Imported changed =
      imported(kernel +
               "int main() { const int w = 300, h = 200; float* x; size_t p;\n"
               "cudaMallocPitch(&x, &p, w * sizeof(float), h); get(1, &p); k<<<1, 32>>>(x, p, w, h); }\n");
  EXPECT_THAT(changed.read, Not(Contains(StartsWith("pitch is"))));
}

TEST(ImportValues, ANumberThatFollowsFromASizeIsComputedFromIt) {
  const Imported one = imported(
      "__global__ void k(float* x, int d, float scale) { x[d] = scale; }\n"
      "void run(Tensor q, float* x) { const int d = q.size(3); const float s = 1.0 / sqrt(d); k<<<1, 32>>>(x, d, s); "
      "}\n");
  EXPECT_THAT(one.guessed, Contains("the size d = 64"));
  EXPECT_THAT(one.guessed, Contains("scale is passed as 0.125, as the host code computes it from the sizes"));
  EXPECT_EQ(args_of(one)[2]["value"], 0.125);
}

}  // namespace
}  // namespace attnscope::catalog
