// Times cubins of the two scalar rungs on a real GPU at H8 S512 D64, to compare the latency model with a measurement.
//
//   g++ -O2 -std=c++20 time_cubins.cpp -I/usr/local/cuda/include -L/usr/local/cuda/lib64/stubs -lcuda -o time_cubins
//   ./time_cubins < LIST          a line each: name cubin entry rows_a_cta threads dynamic_bytes batch
//
// Prints "name batch B median_us low_us high_us": the median of 25 samples, each the mean of a back-to-back batch that
// takes about 4 ms, with the 10th and 90th percentiles. Inputs are zeros: neither rung's time depends on values.
#include <cuda.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

namespace {

void expect(CUresult result, const std::string& what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s: %s\n", what.c_str(), text ? text : "unknown error");
  std::exit(1);
}

}  // namespace

int main() {
  constexpr int kMaxBatch = 16, kHeads = 8, kSeq = 512, kDim = 64;
  expect(cuInit(0), "cuInit");
  CUdevice device;
  expect(cuDeviceGet(&device, 0), "cuDeviceGet");
  CUcontext context;
  expect(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  expect(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  CUdeviceptr tensors[4];
  for (CUdeviceptr& tensor : tensors) {
    expect(cuMemAlloc(&tensor, kMaxBatch * kHeads * kSeq * kDim * 2), "cuMemAlloc");
    expect(cuMemsetD8(tensor, 0, kMaxBatch * kHeads * kSeq * kDim * 2), "cuMemsetD8");
  }
  CUevent start, stop;
  expect(cuEventCreate(&start, 0), "cuEventCreate");
  expect(cuEventCreate(&stop, 0), "cuEventCreate");
  std::string name, cubin, entry;
  unsigned rows, threads, dynamic_bytes, batches;
  while (std::cin >> name >> cubin >> entry >> rows >> threads >> dynamic_bytes >> batches && batches <= kMaxBatch) {
    CUmodule module;
    CUfunction function;
    expect(cuModuleLoad(&module, cubin.c_str()), cubin);
    expect(cuModuleGetFunction(&function, module, entry.c_str()), entry);
    if (dynamic_bytes > 48 * 1024)
      expect(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, int(dynamic_bytes)), name);
    float scale = 0.125f;
    int batch = int(batches), heads = kHeads, seq_q = kSeq, seq_k = kSeq;
    void* arguments[] = {&tensors[0], &tensors[1], &tensors[2], &tensors[3], &scale, &batch, &heads, &seq_q, &seq_k};
    const auto time_batch = [&](int launches) {
      expect(cuEventRecord(start, nullptr), "cuEventRecord");
      for (int i = 0; i < launches; ++i)
        expect(cuLaunchKernel(function, (kSeq + rows - 1) / rows, kHeads, batches, threads, 1, 1, dynamic_bytes,
                              nullptr, arguments, nullptr),
               name);
      expect(cuEventRecord(stop, nullptr), "cuEventRecord");
      expect(cuEventSynchronize(stop), name);
      float ms;
      expect(cuEventElapsedTime(&ms, start, stop), "cuEventElapsedTime");
      return 1e3 * ms / launches;
    };
    time_batch(3);
    const int launches = std::max(3, static_cast<int>(4000 / time_batch(3)));
    std::vector<double> samples(25);
    for (double& sample : samples) sample = time_batch(launches);
    std::sort(samples.begin(), samples.end());
    std::printf("%s batch %u %.2f %.2f %.2f\n", name.c_str(), batches, samples[12], samples[2], samples[22]);
    std::fflush(stdout);
    cuModuleUnload(module);
  }
  return 0;
}
