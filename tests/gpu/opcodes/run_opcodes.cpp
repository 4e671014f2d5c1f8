// Runs the opcode kernels on a GPU and records what they write. Only the driver API.
//
//   g++ -O2 -std=c++20 run_opcodes.cpp -I/usr/local/cuda/include -L/usr/local/cuda/lib64/stubs -lcuda -o run_opcodes
//   ./run_opcodes CUBIN CASES INPUTS OUTPUTS
//
// CASES and INPUTS are opcode_cases.py's. OUTPUTS gets, for each kernel in the list's order, its words: 512 of the
// first, 512 of the second, and so on, 32 bits each.
#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr size_t kThreads = 512, kRowBytes = 32, kScratchBytes = 16384, kMostWords = 16;

void expect(CUresult result, const std::string& what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s: %s\n", what.c_str(), text ? text : "unknown error");
  std::exit(1);
}

struct Kernel {
  std::string name, kind;
  size_t words = 0;
};

std::vector<Kernel> read_kernels(const char* path) {
  std::ifstream list(path);
  std::vector<Kernel> kernels;
  for (std::string line; std::getline(list, line);) {
    std::istringstream in(line);
    Kernel one;
    size_t first = 0, words = 0;
    in >> one.name >> one.kind >> first >> words;
    if (kernels.empty() || kernels.back().name != one.name) kernels.push_back(one);
    kernels.back().words = first + words;
  }
  return kernels;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return std::fprintf(stderr, "usage: run_opcodes CUBIN CASES INPUTS OUTPUTS\n"), 2;
  expect(cuInit(0), "cuInit");
  CUdevice device = 0;
  CUcontext context = nullptr;
  expect(cuDeviceGet(&device, 0), "cuDeviceGet");
  expect(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  expect(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  CUmodule module_ = nullptr;
  expect(cuModuleLoad(&module_, argv[1]), argv[1]);
  std::ifstream input_file(argv[3], std::ios::binary);
  const std::vector<char> inputs{std::istreambuf_iterator<char>(input_file), std::istreambuf_iterator<char>()};
  const std::map<std::string, size_t> kinds{{"int", 0}, {"f32", 1}, {"f64", 2}, {"f16", 3}, {"bf16", 4}};
  CUdeviceptr in = 0, out = 0, scratch = 0;
  expect(cuMemAlloc(&in, kThreads * kRowBytes), "cuMemAlloc");
  expect(cuMemAlloc(&out, kThreads * 4 * kMostWords), "cuMemAlloc");
  expect(cuMemAlloc(&scratch, kScratchBytes), "cuMemAlloc");
  std::ofstream outputs(argv[4], std::ios::binary);
  size_t run = 0;
  for (const Kernel& kernel : read_kernels(argv[2])) {
    CUfunction function = nullptr;
    expect(cuModuleGetFunction(&function, module_, kernel.name.c_str()), kernel.name);
    expect(cuMemcpyHtoD(in, inputs.data() + kinds.at(kernel.kind) * kThreads * kRowBytes, kThreads * kRowBytes),
           "inputs");
    expect(cuMemsetD32(out, 0xcdcdcdcd, kThreads * kMostWords), "outputs");
    expect(cuMemsetD32(scratch, 0, kScratchBytes / 4), "scratch");
    // The same values as in the emulator's test (tests/unit/emulator/opcode_test.cpp).
    unsigned s = 0x2c, t = 0x3fc00000, unused = 0;
    float fs = 3.14159274f;
    unsigned long long ls = 0x40091eb851eb851full;
    double ds = 3.14;
    void* arguments[] = {&in, &out, &scratch, &s, &t, &fs, &unused, &ls, &ds};
    expect(cuLaunchKernel(function, kThreads / 128, 1, 1, 128, 1, 1, 2048, nullptr, arguments, nullptr), kernel.name);
    expect(cuCtxSynchronize(), kernel.name);
    std::vector<char> result(kernel.words * kThreads * 4);
    expect(cuMemcpyDtoH(result.data(), out, result.size()), "results");
    outputs.write(result.data(), static_cast<std::streamsize>(result.size()));
    ++run;
  }
  std::printf("%zu kernels\n", run);
  return run > 0 && outputs ? 0 : 1;
}
