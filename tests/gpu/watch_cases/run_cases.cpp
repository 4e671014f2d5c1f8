// Launches watch cases on a GPU under a checker (record.py). Only the driver API.
//
//   g++ -O1 -std=c++20 run_cases.cpp -I CUDA/include -L CUDA/lib64/stubs -lcuda -o run_cases
//   ./run_cases CUBINS LIST FROM          LIST: "file kernel grid block dynamic_bytes filled", a case a line
//
// Begins with case FROM (0: the first) and stops after one whose launch fails. Ends with the number of the next case in
// "next N" on stderr; the context of a failed launch no longer works.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kCount = 1024;  // integers in `out` and in `in`, as the test has them

bool failed(CUresult result, const std::string& what) {
  if (result == CUDA_SUCCESS) return false;
  const char* text = nullptr;
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s: %s\n", what.c_str(), text ? text : "unknown error");
  return true;
}
void expect(CUresult result, const char* what) {
  if (failed(result, what)) std::exit(1);
}

struct Case {
  std::string file, kernel;
  unsigned grid = 1, block = 1, dynamic = 0;
  int filled = 1;
};

// Two buffers with free memory before, between and after them, so that an index outside hits nothing.
struct Buffers {
  CUdeviceptr in = 0, out = 0;
  Buffers() {
    constexpr size_t bytes = 4 * kCount;
    CUdeviceptr gaps[3] = {};
    for (CUdeviceptr* at : {&gaps[0], &in, &gaps[1], &out, &gaps[2]}) expect(cuMemAlloc(at, bytes), "cuMemAlloc");
    for (CUdeviceptr gap : gaps) expect(cuMemFree(gap), "cuMemFree");
  }
};

bool run(const Case& one, const std::string& cubins) {
  CUmodule module_ = nullptr;
  CUfunction function = nullptr;
  expect(cuModuleLoad(&module_, (cubins + "/" + one.file + "_sm90.cubin").c_str()), one.file.c_str());
  expect(cuModuleGetFunction(&function, module_, one.kernel.c_str()), one.kernel.c_str());
  std::vector<int> values(kCount);
  for (int i = 0; i < kCount; ++i) values[static_cast<size_t>(i)] = i * 7 % 13;
  const Buffers buffers;
  CUdeviceptr in = buffers.in, out = buffers.out;
  expect(cuMemcpyHtoD(in, values.data(), 4 * kCount), "cuMemcpyHtoD");
  if (one.filled) expect(cuMemsetD32(out, 0, kCount), "cuMemsetD32");
  int n = kCount;
  void* arguments[] = {&out, &in, &n};
  bool bad = failed(cuLaunchKernel(function, one.grid, 1, 1, one.block, 1, 1, one.dynamic, nullptr, arguments, nullptr),
                    one.kernel);
  bad = failed(cuCtxSynchronize(), one.kernel) || bad;
  if (bad) return false;
  expect(cuMemFree(in), "cuMemFree");
  expect(cuMemFree(out), "cuMemFree");
  expect(cuModuleUnload(module_), "cuModuleUnload");
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  std::vector<Case> cases;
  std::ifstream list(argv[2]);
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    Case one;
    if (words >> one.file >> one.kernel >> one.grid >> one.block >> one.dynamic >> one.filled) cases.push_back(one);
  }
  CUdevice device = 0;
  CUcontext context = nullptr;
  expect(cuInit(0), "cuInit");
  expect(cuDeviceGet(&device, 0), "cuDeviceGet");
  expect(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  expect(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  size_t next = static_cast<size_t>(std::atoi(argv[3]));
  for (bool going = true; going && next < cases.size(); ++next) {
    std::fprintf(stderr, "case %s.%s\n", cases[next].file.c_str(), cases[next].kernel.c_str());
    going = run(cases[next], argv[1]);
  }
  std::fprintf(stderr, "next %zu of %zu\n", next, cases.size());
  return 0;
}
