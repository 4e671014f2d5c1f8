#include <gmock/gmock.h>

#include <string>

#include "catalog/address_parts.h"
#include "catalog/import.h"
#include "catalog/workload.h"
#include "unit/catalog/support.h"

namespace attnscope::catalog {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Imported imported(const std::string& source, const std::string& function = "") {
  auto one = import_kernel("p.cu", source, "", "", function);
  EXPECT_TRUE(one) << one.error().message;
  if (!one) return {};
  const auto kernel = parse_kernel({"p.json", one->manifest, "p.cu", source});
  EXPECT_TRUE(kernel) << kernel.error().message << "\n" << one->manifest;
  return *one;
}

Json json_of(const Imported& one) { return *parse_json(one.manifest, "manifest"); }

std::string refusal(const std::string& source, const std::string& function = "main") {
  const auto one = import_kernel("p.cu", source, "", "", function);
  return one ? "accepted: " + one->manifest : one.error().message + " | " + one.error().hint;
}

// From a manifest: name to role, init or shape.
Json of_buffers(const Json& json, const char* key) {
  Json found = Json::object();
  for (const Json& buffer : json["buffers"]) found[buffer["name"].get<std::string>()] = buffer.value(key, Json());
  return found;
}

const std::string kKernels = R"(
__global__ void square(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i];
}
__global__ void total(const float* y, float* sum, int n) {
  extern __shared__ float part[];
  part[threadIdx.x] = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) part[threadIdx.x] += y[i];
  __syncthreads();
  if (threadIdx.x == 0) for (int i = 0; i < blockDim.x; ++i) *sum += part[i];
}
__global__ void divide(const float* y, const float* sum, float* out, int n, float epsilon) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = y[i] / (*sum + epsilon);
}
)";

std::string with_main(const std::string& launches) {
  return kKernels + R"(
int main() {
  const int N = 1 << 12;
  float *h = (float*)malloc(N * sizeof(float)), *d_x, *d_y, *d_sum, *d_out;
  cudaMalloc(&d_x, N * sizeof(float));
  cudaMalloc((void**)&d_y, N * sizeof(float));
  cudaMalloc(&d_sum, sizeof(float));
  cudaMalloc(&d_out, N * sizeof(float));
  cudaMemcpy(d_x, h, N * sizeof(float), cudaMemcpyHostToDevice);
  int threads = 128;
  int blocks = (N + threads - 1) / threads;
)" + launches +
         R"(
  cudaMemcpy(h, d_out, N * sizeof(float), cudaMemcpyDeviceToHost);
}
)";
}

const std::string kThree = R"(
  cudaMemset(d_sum, 0, sizeof(float));
  square<<<blocks, threads>>>(d_x, d_y, N);
  total<<<1, 64, 64 * sizeof(float)>>>(d_y, d_sum, N);
  divide<<<blocks, threads>>>(d_y, d_sum, d_out, N, 1e-5f);
)";

const std::string kFirst = "square<<<1, 32>>>(d_x, d_y, N);\n";

TEST(ImportProgram, TakesWhatMainLaunchesInOrder) {
  const Imported one = imported(with_main(kThree));
  const Json json = json_of(one);
  ASSERT_EQ(json["launches"].size(), 4u) << one.manifest;
  EXPECT_EQ(json["sizes"], Json({{"N", 4096}}));
  EXPECT_EQ(json["launches"][0], Json({{"memset", "d_sum"}, {"byte", 0}}));
  EXPECT_EQ(json["launches"][1]["grid"], Json({"ceil_div(N, 128)", "1", "1"}));
  EXPECT_EQ(json["launches"][1]["args"], Json({"d_x", "d_y", "N"}));
  EXPECT_EQ(json["launches"][2]["block"], Json({"64", "1", "1"}));
  EXPECT_EQ(json["launches"][2]["dynamic_shared"], "256");
  EXPECT_EQ(json["launches"][3]["args"][4], Json({{"value", 1e-5}, {"type", "f32"}}));
  EXPECT_EQ(of_buffers(json, "role"),
            Json({{"d_x", "in"}, {"d_y", "workspace"}, {"d_sum", "workspace"}, {"d_out", "out"}}));
  EXPECT_EQ(of_buffers(json, "shape")["d_y"], Json({"N"}));
  EXPECT_EQ(of_buffers(json, "shape")["d_sum"], Json({"1"}));
  EXPECT_EQ(one.entry, "main");
  EXPECT_TRUE(one.guessed.empty()) << testing::PrintToString(one.guessed);
  EXPECT_THAT(one.read, Contains("main launches 3 kernels in order: square, total, divide"));
  EXPECT_THAT(one.read, Contains("d_y is a workspace: allocated, and neither copied to nor from"));
  EXPECT_THAT(one.read, Contains(HasSubstr("total (p.cu:")));
}

TEST(AddressParts, AreThoseOfASumOrAnElement) {
  const auto parts = [](const char* text) {
    const AddressParts found = address_parts(text);
    return found.pointer + " | " + found.offset;
  };
  EXPECT_EQ(parts("p+n"), "p | n");
  EXPECT_EQ(parts("p+(size_t)a*b+c"), "p | (size_t)a*b+c");
  EXPECT_EQ(parts("&p[2*n]"), "p | 2*n");
  EXPECT_EQ(parts("(p+4)"), "p | 4");
  EXPECT_EQ(parts("x.data_ptr<float>()+n"), "x.data_ptr<float>() | n");
  for (const char* none : {"", "p", "p-4", "(float*)p+4", "reinterpret_cast<int*>(p)+4", "a?p+1:q", "p++", "p+=n",
                           "f(p+n)", "2*p+n", "&p[1]+2", "p+", "&p[]", "((("})
    EXPECT_EQ(parts(none), " | ") << none;
}

// As in llm.c, where the host code splits the result of one product: the parts of one buffer, also under their own
// names and through callers.
TEST(ImportProgram, FollowsAddressesWithinABuffer) {
  const Imported one = imported(R"(
__global__ void split(float* a, float* b, const float* both, int n) { a[threadIdx.x] = b[threadIdx.x] = both[n]; }
__global__ void join(const float* a, const float* b, float* out, int n) { out[threadIdx.x] = a[n - 1] + b[n - 1]; }
void run(float* out, float* parts, const float* in, int n, int rows) {
  float *a, *b;
  a = parts + 0 * n;
  b = parts + (size_t)rows * n;
  split<<<1, 64>>>(a, b, &in[n], n);
  join<<<1, 64>>>(a, b + 2, out, n);
}
int main() {
  int n = 64, rows = 2;
  float *out, *parts, *in;
  cudaMalloc(&out, n * sizeof(float));
  cudaMalloc(&parts, 3 * rows * n * sizeof(float));
  cudaMalloc(&in, 2 * n * sizeof(float));
  run(out, parts, in, n, rows);
}
)",
                                "run");
  const Json json = json_of(one);
  ASSERT_EQ(json["launches"].size(), 2u) << one.manifest;
  ASSERT_EQ(json["buffers"].size(), 3u) << one.manifest;
  const Json& args = json["launches"][0]["args"];
  EXPECT_EQ(args[0]["buffer"], "parts") << one.manifest;
  EXPECT_EQ(args[1]["buffer"], "parts");
  EXPECT_EQ(args[2]["buffer"], "in");
  EXPECT_EQ(args[2]["offset"], "n");
  // The manifest is read with its default sizes: the addresses are those of the host code.
  const auto kernel = parse_kernel({"p.json", one.manifest, "p.cu", "#include \"split.h\"\n"});
  ASSERT_TRUE(kernel) << kernel.error().message;
  std::vector<size_t> offsets;
  for (const Kernel& launch : kernel->launches()) {
    const auto workload = workload_of(launch, kernel->default_problem(), config_of(*kernel, {}));
    ASSERT_TRUE(workload) << workload.error().message;
    for (const ArgumentValue& value : workload->arguments)
      if (value.operand) offsets.push_back(value.offset);
  }
  EXPECT_THAT(offsets, testing::ElementsAre(0, 4 * 128, 4 * 64, 0, 4 * 130, 0));
}

TEST(ImportProgram, RefusesAVariableThatTwoLaunchesShare) {
  const std::string source = R"(
__device__ float largest;
__global__ void first(const float* x, float* y, int n) { y[threadIdx.x] = x[n - 1]; largest = x[0]; }
__global__ void second(const float* y, float* z, int n) { z[threadIdx.x] = y[n - 1] / largest; }
int main() {
  int n = 64;
  float *x, *y, *z;
  cudaMalloc(&x, n * 4); cudaMalloc(&y, n * 4); cudaMalloc(&z, n * 4);
  first<<<1, 64>>>(x, y, n);
  second<<<1, 64>>>(y, z, n);
}
)";
  EXPECT_THAT(refusal(source), HasSubstr("first and second share the __device__ variable largest"));
}

// Each kernel has its own name for the size, and the host code gives a variable a second value.
TEST(ImportProgram, ReadsNumbersThatAreNoSizes) {
  const std::string kernels = R"(
__global__ void scores(const float* x, float* y, float scale, bool causal) { y[threadIdx.x] = causal ? 0 : x[0] * scale; }
__global__ void sum(const float* y, float* out, float by, bool causal) { out[threadIdx.x] = causal ? by : y[0]; }
int main() {
  const int d = 64;
  const float scale = 1.0f / sqrtf((float)d);
  const bool causal = false;
  float *h, *d_x, *d_y, *d_out;
  cudaMalloc(&d_x, d * sizeof(float));
  cudaMalloc(&d_y, d * sizeof(float));
  cudaMalloc(&d_out, d * sizeof(float));
  cudaMemcpy(d_x, h, d * sizeof(float), cudaMemcpyHostToDevice);
  scores<<<1, d>>>(d_x, d_y, scale, causal);
  sum<<<1, d>>>(d_y, d_out, unknown, true);
  cudaMemcpy(h, d_out, d * sizeof(float), cudaMemcpyDeviceToHost);
})";
  const Imported one = imported(kernels, "main");
  const Json json = json_of(one);
  EXPECT_EQ(json["launches"][0]["args"][2], Json({{"value", 0.125}, {"type", "f32"}}));
  EXPECT_EQ(json["launches"][0]["args"][3]["value"], 0);
  EXPECT_EQ(json["launches"][1]["args"][3]["value"], 1);
  EXPECT_THAT(one.read, Contains(HasSubstr("scale is 0.125")));
  EXPECT_THAT(one.read, Contains(HasSubstr("causal is 0")));
  ASSERT_EQ(one.guessed.size(), 1u) << testing::PrintToString(one.guessed);
  EXPECT_THAT(one.guessed, Contains(HasSubstr("by is passed as 1: unknown")));
}

TEST(ImportProgram, FollowsNamesThroughCallersAndSecondValues) {
  const Json json = json_of(imported(R"(
__global__ void first(const float* in, float* mid, int elements) { mid[threadIdx.x] = in[elements - 1]; }
__global__ void second(const float* a, float* b, int rows, int width) { b[rows] = a[width]; }
template <class T> T ceil_div(T a, T b) { return (a + b - 1) / b; }
void run(float* out, float* tmp, const float* inp, int B, int T, int block_size) {
  int total = B * T * T;
  int blocks = ceil_div(total, block_size);
  first<<<blocks, block_size>>>(inp, tmp, total);
  total = B * T;
  blocks = ceil_div(total, block_size);
  second<<<blocks, block_size>>>(tmp, out, total, T);
}
int main() {
  int batch = 3, T = 20;
  float *d_out, *d_inp, *d_tmp, *h;
  cudaMalloc(&d_out, batch * T * sizeof(float));
  cudaMalloc(&d_inp, batch * T * T * 4);
  cudaMalloc(&d_tmp, batch * T * T * sizeof(float));
  cudaMemcpy(d_inp, h, 8, cudaMemcpyHostToDevice);
  run(d_out, d_tmp, d_inp, batch, T, 32);
  cudaMemcpy(h, d_out, 8, cudaMemcpyDeviceToHost);
})"));
  EXPECT_EQ(json["launches"][0]["grid"][0], "ceil_div(B * T * T, 32)");
  EXPECT_EQ(json["launches"][1]["grid"][0], "ceil_div(B * T, 32)");
  EXPECT_EQ(json["launches"][0]["args"][2], Json({{"value", "B * T * T"}, {"type", "i32"}}));
  EXPECT_EQ(json["launches"][1]["args"][3], "T");
  EXPECT_EQ(of_buffers(json, "role"), Json({{"inp", "in"}, {"tmp", "workspace"}, {"out", "out"}}));
}

TEST(ImportProgram, FollowsFunctionsThatAreCalledOnce) {
  const std::string source = kKernels + R"(
void squares(const float* from, float* to, int count) { square<<<count / 64, 64>>>(from, to, count); }
void sums(const float* from, float* to, int count) { total<<<1, 32, 32 * 4>>>(from, to, count); }
int main() {
  int n = 640;
  float *x, *y, *s, *h;
  cudaMalloc(&x, n * 4); cudaMalloc(&y, n * 4); cudaMalloc(&s, 4);
  cudaMemcpy(x, h, n * 4, cudaMemcpyHostToDevice);
  cudaMemset(s, 0, 4);
  squares(x, y, n);
  sums(y, s, n);
  cudaMemcpy(h, s, 4, cudaMemcpyDeviceToHost);
})";
  const Json json = json_of(imported(source));
  EXPECT_EQ(json["launches"][1]["args"], Json({"x", "y", "n"}));
  EXPECT_EQ(json["launches"][2]["args"], Json({"y", "s", "n"}));
  EXPECT_EQ(of_buffers(json, "role"), Json({{"x", "in"}, {"y", "workspace"}, {"s", "out"}}));
}

TEST(ImportProgram, TakesATorchLauncher) {
  const Json json = json_of(imported(kKernels + R"(
torch::Tensor norm(torch::Tensor x) {
  const int rows = x.size(0);
  auto s = torch::zeros({1}, x.options());
  auto y = torch::empty_like(x), out = torch::empty_like(x);
  const float* px = x.data_ptr<float>();
  square<<<8, 128>>>(px, y.data_ptr<float>(), rows);
  total<<<1, 128, 512>>>(y.data_ptr<float>(), s.data_ptr<float>(), rows);
  divide<<<8, 128>>>(y.data_ptr<float>(), (float*)s.data_ptr(), out.data_ptr<float>(), rows, 1e-5f);
  return out;
})"));
  EXPECT_EQ(json["sizes"].size(), 1u);
  EXPECT_TRUE(json["sizes"].contains("rows"));
  EXPECT_EQ(json["launches"][2]["args"], Json({"y", "s", "out", "rows", Json({{"value", 1e-5}, {"type", "f32"}})}));
  EXPECT_EQ(of_buffers(json, "role")["x"], "in");
  EXPECT_EQ(of_buffers(json, "role")["y"], "workspace");
  EXPECT_EQ(of_buffers(json, "role")["out"], "out");
}

TEST(ImportProgram, CopiesOfWholeBuffersAreSteps) {
  const Json json = json_of(imported(with_main(R"(
  square<<<blocks, threads>>>(d_x, d_y, N);
  cudaMemcpy(d_out, d_y, N * sizeof(float), cudaMemcpyDeviceToDevice);
)"),
                                     "main"));
  EXPECT_EQ(json["launches"][1], Json({{"copy", {"d_y", "d_out"}}}));
}

TEST(ImportProgram, KernelsThatHandNothingOnAreOnTheirOwn) {
  const Imported one = imported(with_main(R"(
  square<<<blocks, threads>>>(d_x, d_out, N);
  divide<<<blocks, threads>>>(d_x, d_x, d_out, N, 1.f);
)"));
  EXPECT_EQ(one.entry, "square");
  EXPECT_EQ(json_of(one)["entry"], "square");
  EXPECT_TRUE(one.programs.empty());
  EXPECT_TRUE(import_kernel("p.cu", with_main(kThree), "total"));
  EXPECT_EQ(imported(with_main(kThree), "").entry, "main");
}

// What the reader cannot follow is reported with its line, and the first kernel is the same as before.
TEST(ImportProgram, SaysWhyAFunctionIsNoProgram) {
  struct Case {
    std::string launches, reason;
  };
  for (const Case& one : {
           Case{"for (int i = 0; i < 3; ++i) {\n" + kThree + "}", "the launch of square is in a loop"},
           {"while (h[0] < 1)\n total<<<1, 64>>>(d_y, d_sum, N);\n" + kThree, "the launch of total is in a loop"},
           {"if (h[0] > 0) {" + kThree + "}", "the launch of square is in if (h[0]>0)"},
           {"switch (threads) { case 128: " + kThree + "}", "the launch of square is in a switch"},
           {"\n#ifdef FAST\n" + kThree + "\n#endif\n", "the launch of square is in #ifdef FAST"},
           {"auto all = [&] {" + kThree + "};", "the launch of square is in a lambda"},
           {kThree + "unknown<<<1, 1>>>(d_out);", "unknown is not defined in the file"},
           {"square<<<1, 32>>>(d_x + h[0], d_y, N);" + kThree,
            "square gets d_x+h[0], an address within d_x: h[0] is not known"},
           {"square<<<1, 32>>>(d_x + 2 * N, d_y, N);" + kThree, "an address within d_x, past its end"},
           {"square<<<1, 32>>>((float*)d_x + 4, d_y, N);" + kThree, "which is not a whole buffer"},
           {"square<<<1, 32>>>(d_x - 4, d_y, N);" + kThree,
            "square gets d_x-4, which is before what the pointer leads to"},
           {"d_x += 4;square<<<1, 32>>>(d_x + 4, d_y, N);" + kThree, "which is not a whole buffer"},
           {"\n#define SQUARE(n) square<<<1, n>>>(d_x, d_y, n)\n" + kThree + "SQUARE(64);",
            "what it calls is in the macro SQUARE"},
           {"square<<<1, 32>>>(d_x, d_y);" + kThree, "square gets 2 arguments and has 3 parameters"},
           {"square<<<1, 32>>>(d_x, d_y, N);\ncublasScale(d_y);\ntotal<<<1, 64>>>(d_y, d_sum, N);",
            "cublasScale gets d_y between them"},
           {"cudaMemset(d_y, 0, 16);" + kThree, "cudaMemset is of 16 of the 16384 bytes of d_y"},
           {"square<<<1, 32>>>(d_x, d_y, N);cudaMemcpy(d_y, h, 16384, cudaMemcpyHostToDevice);" + kThree,
            "the host copies to d_y between them"},
           {kFirst + "cudaMemset(d_sum + 1, 0, 4);" + kThree, "cudaMemset gets an address within d_sum"},
           {kFirst + "cudaMemcpy(d_y + 4, d_x, 16, cudaMemcpyDeviceToDevice);" + kThree,
            "cudaMemcpy gets an address within d_y"},
           {kFirst + "cudaMemcpy(d_y + 4, h, 16, cudaMemcpyHostToDevice);" + kThree,
            "cudaMemcpy gets an address within d_y"},
           {kFirst + "float* middle = d_y + 4;\ncublasScale(N, middle);" + kThree,
            "cublasScale gets an address within d_y"},
           {kFirst + "cudaMemcpy(d_y, h, 16384, cudaMemcpyDefault);" + kThree, "cudaMemcpy gets d_y between them"},
           {kFirst + "cudaMemset2D(d_y, 64, 0, 16, 4);" + kThree, "cudaMemset2D gets d_y between them"},
           {kFirst + "d_y.fill_(0);" + kThree, "fill_ gets d_y between them"},
           {kThree + "cudaLaunchKernel((void*)square, blocks, threads, all, 0, 0);",
            "what it calls is in an argument of cudaLaunchKernel"},
           {"int i = 0;", "main launches no kernel"},
       }) {
    const std::string said = refusal(with_main(one.launches));
    EXPECT_THAT(said, HasSubstr(one.reason));
    EXPECT_THAT(said, HasSubstr(one.launches == "int i = 0;" ? "with --entry" : "--entry NAME"));
  }
  EXPECT_THAT(refusal(with_main("for (;;) {" + kThree + "}")), HasSubstr("(p.cu:"));
  EXPECT_THAT(refusal(with_main(kThree), "other"), HasSubstr("has no function other"));

  const Imported alone = imported(with_main("for (int i = 0; i < 3; ++i) {" + kThree + "}"));
  EXPECT_EQ(alone.entry, "square");
  EXPECT_THAT(alone.guessed, Contains(HasSubstr("it is run without the others: p.cu: main launches several kernels, "
                                                "but the launch of square is in a loop")));
}

TEST(ImportProgram, ABranchThatIsNotTakenIsNoPart) {
  const Json json =
      json_of(imported(with_main("if (threads > 256) { total<<<1, 1>>>(d_x, d_y, N); }\n"
                                 "if (N == 4096)" +
                                 kThree.substr(kThree.find("cudaMemset")))));
  EXPECT_EQ(json["launches"].size(), 4u);
}

TEST(ImportProgram, AReturnThatCertainlyRunsEndsIt) {
  const auto launches = [](const std::string& source) {
    return json_of(imported(with_main(source), "main"))["launches"].size();
  };
  EXPECT_EQ(launches(kFirst + "\n#ifdef FAST\nreturn 0;\n#endif\n" + kThree), 5u);
  EXPECT_EQ(launches("if (h[0] > 0) return 0;" + kThree), 4u);
  EXPECT_EQ(launches("if (threads > 256) return 0;" + kThree), 4u);
  EXPECT_EQ(launches("if (N == 4096) {" + kThree + "return 0;\n}\n" + kFirst), 4u);
}

// A function of the file that launches nothing may still change what the launches work on.
TEST(ImportProgram, FollowsWhatACalledFunctionChanges) {
  EXPECT_THAT(refusal("void wipe(float* x) { cudaMemset(x, 0, 4); }\n" + with_main(kFirst + "wipe(d_sum);" + kThree)),
              HasSubstr("wipe gets d_sum between them"));
  EXPECT_THAT(refusal("void outer(float* x) { inner(x); }\nvoid inner(float* x) { cublasScale(x); }\n" +
                      with_main(kFirst + "outer(d_y);" + kThree)),
              HasSubstr("outer gets d_y between them"));
  const std::string show =
      "void show(const float* x) { float y; cudaMemcpy(&y, x, 4, cudaMemcpyDeviceToHost); printf(\"%f\", y); }\n";
  EXPECT_EQ(json_of(imported(show + with_main(kFirst + "show(d_y);" + kThree), "main"))["launches"].size(), 5u);
}

TEST(ImportProgram, FollowsALaunchThroughSixFunctions) {
  std::string source = kKernels + "void f0(float* x, float* y) { square<<<1, 32>>>(x, y, 32); }\n";
  for (int i = 1; i < 6; ++i)
    source += "void f" + std::to_string(i) + "(float* x, float* y) { f" + std::to_string(i - 1) + "(x, y); }\n";
  source += "void all(float* x, float* y, float* z) { f5(x, y); square<<<1, 32>>>(y, z, 32); }\n";
  EXPECT_EQ(json_of(imported(source, "all"))["launches"].size(), 2u);
}

// Only the last write counts, and a memset after the last launch is no step.
TEST(ImportProgram, ABufferThatIsWrittenAgainIsAnOutput) {
  const std::string begin = kKernels + R"(
int main() {
  int n = 640;
  float *x, *y, *s, *h;
  cudaMalloc(&x, n * 4); cudaMalloc(&y, n * 4); cudaMalloc(&s, n * 4);
)";
  const Json json = json_of(imported(begin + R"(
  square<<<5, 128>>>(x, y, n);
  square<<<5, 128>>>(y, s, n);
  square<<<5, 128>>>(s, y, n);
})",
                                     "main"));
  EXPECT_EQ(of_buffers(json, "role"), Json({{"x", "in"}, {"y", "out"}, {"s", "workspace"}}));

  const Imported none = imported(begin + R"(
  cudaMemset(s, 0, n * 4);
  total<<<1, 32, 128>>>(x, s, n);
  square<<<5, 128>>>(x, y, n);
  total<<<1, 32, 128>>>(y, s, n);
  cudaMemcpy(h, x, n * 4, cudaMemcpyDeviceToHost);
})",
                                 "main");
  EXPECT_EQ(of_buffers(json_of(none), "role"), Json({{"x", "in"}, {"s", "inout"}, {"y", "workspace"}}));
  EXPECT_THAT(none.guessed, Contains("s is taken as the output, since no other buffer is one"));
  EXPECT_THAT(none.read, Not(Contains(testing::StartsWith("s is a workspace"))));

  const Json after = json_of(imported(with_main(kThree + "cudaMemset(d_x, 0, N * sizeof(float));"), "main"));
  EXPECT_EQ(of_buffers(after, "role")["d_x"], "in");
}

TEST(ImportProgram, AKernelThatTakesItsOwnOutputIsAProgram) {
  const Json json = json_of(imported(R"(
__global__ void reduce(const float* x, float* sums, int n) { if (n > 0) sums[blockIdx.x] = x[threadIdx.x]; }
void both(float* x, float* sums, int n) {
  const int blocks = 640;
  reduce<<<blocks, 256>>>(x, sums, n);
  reduce<<<1, 256>>>(sums, x, blocks);
})"));
  ASSERT_EQ(json["launches"].size(), 2u);
  EXPECT_EQ(json["launches"][1]["args"], Json({"sums", "x", "blocks"}));
  EXPECT_EQ(of_buffers(json, "role"), Json({{"x", "inout"}, {"sums", "out"}}));
}

TEST(ImportProgram, ACopyHasTheElementsOfWhatItIsCopiedFrom) {
  const Json json = json_of(imported(R"(
__global__ void twice(double* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }
int main() {
  int n = 64;
  double *x, *kept, *h;
  cudaMalloc(&x, n * sizeof(double)); cudaMalloc(&kept, n * sizeof(double));
  cudaMemcpy(x, h, n * sizeof(double), cudaMemcpyHostToDevice);
  twice<<<1, 64>>>(x, n);
  cudaMemcpy(kept, x, n * sizeof(double), cudaMemcpyDeviceToDevice);
  twice<<<1, 64>>>(x, n);
  cudaMemcpy(h, kept, n * sizeof(double), cudaMemcpyDeviceToHost);
})",
                                     "main"));
  EXPECT_EQ(of_buffers(json, "dtype"), Json({{"x", "f64"}, {"kept", "f64"}}));
}

TEST(ImportProgram, WhatItsCallerSetsTo0StartsAsZeros) {
  for (const std::string set : {"cudaMemset(x, 0, n * 4);", "cudaMemset(x, 1, n * 4);", "fill(x, 0);"}) {
    const Imported one = imported(kKernels + R"(
void both(float* x, float* y, float* s, int n) {
  square<<<1, 32>>>(x, y, n);
  total<<<1, 32, 128>>>(y, s, n);
}
int main() {
  int n = 640;
  float *x, *y, *s;
  cudaMalloc(&x, n * 4); cudaMalloc(&y, n * 4); cudaMalloc(&s, 4);
  )" + set + " both(x, y, s, n); }",
                                  "both");
    const bool zero = set.starts_with("cudaMemset(x, 0");
    EXPECT_EQ(of_buffers(json_of(one), "init")["x"], zero ? "zeros" : "random") << set;
  }
}

TEST(ImportProgram, NamesTheOtherProgramsOfAFile) {
  const Imported one = imported(kKernels + R"(
void only(float* x, float* y, int n) { square<<<1, 32>>>(x, y, n); }
void both(float* x, float* y, float* s, int n) {
  square<<<1, 32>>>(x, y, n);
  total<<<1, 32, 128>>>(y, s, n);
})");
  EXPECT_EQ(one.entry, "square");
  EXPECT_THAT(one.programs, testing::ElementsAre("both"));
}

TEST(ImportProgram, RefusesAThousandLaunches) {
  std::string many;
  for (int i = 0; i < 1000; ++i) many += kThree;
  EXPECT_THAT(refusal(with_main(many)), HasSubstr("a manifest has at most 64"));
  std::string buffers = "void many(int n) {\n";
  for (int i = 0; i < 40; ++i)
    buffers += "square<<<1, 32>>>(a" + std::to_string(i) + ", b" + std::to_string(i) + ", n);\n";
  EXPECT_THAT(refusal(kKernels + buffers + "}", "many"), HasSubstr("more than 64 buffers"));
}

TEST(ImportProgram, HostileTextEndsSoon) {
  std::string deep, chain, calls, other_calls;
  for (int i = 0; i < 20000; ++i) deep += "if (N) {";
  for (int i = 0; i < 20000; ++i) chain += "if (h[" + std::to_string(i) + "]) ; else ";
  for (int i = 0; i < 100000; ++i) calls += "f(d_x);";
  for (int i = 0; i < 100000; ++i) other_calls += "g(d_x);";
  const auto is_cut = HasSubstr("it has too many calls to follow");
  EXPECT_THAT(refusal(with_main(deep + kThree)), is_cut);
  EXPECT_THAT(refusal(with_main(chain + kThree)), is_cut);
  EXPECT_THAT(refusal(with_main(calls + kThree)), is_cut);
  // One condition around many calls, a callee of many calls called often, a long kernel launched often.
  std::string condition = "1", body, launches;
  for (int i = 0; i < 900; ++i) condition += " + N";
  EXPECT_THAT(refusal(with_main("if (" + condition + ") {" + calls + "}" + kThree)), is_cut);
  EXPECT_THAT(refusal("void g(float* x) {" + calls + "}\n" + with_main(other_calls + kThree)),
              testing::AnyOf(is_cut, HasSubstr("a manifest has at most 64")));
  for (int i = 0; i < 50000; ++i) body += "x[0] = x[1];";
  for (int i = 0; i < 1500; ++i) launches += "longer<<<1, 1>>>(d_x);";
  EXPECT_THAT(refusal("__global__ void longer(float* x) {" + body + "}\n" + with_main(launches)), HasSubstr("64"));
  // Functions that each call the next one often, and sizes that each name another one often.
  std::string functions = "void f0(float* x) { x[0] = 1; }\n", sizes = "int s0 = 1;";
  for (int i = 1; i < 5; ++i) {
    const std::string before = std::to_string(i - 1);
    functions += "void f" + std::to_string(i) + "(float* x) {";
    for (int k = 0; k < 4900; ++k) functions += "f" + before + "(x);";
    functions += "}\n";
  }
  for (int i = 1; i < 6; ++i) {
    const std::string before = "s" + std::to_string(i - 1);
    sizes += "\nint s" + std::to_string(i) + " = " + before;
    for (int k = 0; k < 28; ++k) sizes += "+" + before;
    sizes += ";";
  }
  EXPECT_THAT(refusal(functions + with_main("f4(d_x);" + kThree)), HasSubstr("accepted"));
  EXPECT_THAT(refusal(with_main(sizes + "square<<<1, 32>>>(d_x, d_y, s5);")), HasSubstr("s5"));
  std::string deep_calls = "void f0(float* x) { x[0] = 1; }\n";
  for (int i = 1; i < 20000; ++i)
    deep_calls += "void f" + std::to_string(i) + "(float* x) { f" + std::to_string(i - 1) + "(x); }\n";
  EXPECT_THAT(refusal(deep_calls + with_main("f19999(d_x);" + kThree)), HasSubstr("accepted"));
  // More CTAs than a 64-bit number holds.
  EXPECT_THAT(refusal(with_main("dim3 grid(1099511627776, 1099511627776);\nsquare<<<grid, 32>>>(d_x, d_y, N);")),
              HasSubstr("1099511627776"));
  // A function that calls itself, or two that call each other.
  EXPECT_THAT(
      refusal(kKernels + "void a(float* x) { b(x); square<<<1, 1>>>(x, x, 1); }\nvoid b(float* x) { a(x); }", "a"),
      HasSubstr("called in several places"));
}

}  // namespace
}  // namespace attnscope::catalog
