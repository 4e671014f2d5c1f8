// run_probes FOLDER: loads every cubin of base.cu's form and prints clocks per instruction and scheduler with 1, 2 and 4 warps a scheduler.
#include <cuda.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>
#define CHECK(call) do { CUresult r = (call); if (r != CUDA_SUCCESS) { const char* s = ""; cuGetErrorString(r, &s); std::fprintf(stderr, "%s: %s\n", #call, s); std::exit(1); } } while (0)
int main(int argc, char** argv) {
  CHECK(cuInit(0));
  CUdevice device; CHECK(cuDeviceGet(&device, 0));
  CUcontext context; CHECK(cuDevicePrimaryCtxRetain(&context, device)); CHECK(cuCtxSetCurrent(context));
  char name[100]; CHECK(cuDeviceGetName(name, 100, device)); std::printf("device %s\n", name);
  CUdeviceptr clocks, sink; CHECK(cuMemAlloc(&clocks, 8)); CHECK(cuMemAlloc(&sink, 1 << 20)); CHECK(cuMemsetD8(sink, 0, 1 << 20));
  std::vector<std::filesystem::path> files;
  for (const auto& f : std::filesystem::directory_iterator(argc > 1 ? argv[1] : "probes")) files.push_back(f.path());
  std::sort(files.begin(), files.end());
  int rounds = 8, slots = 1024;
  for (const auto& f : files) {
    CUmodule module; CUfunction function;
    CHECK(cuModuleLoad(&module, f.c_str())); CHECK(cuModuleGetFunction(&function, module, "probe"));
    std::printf("%-60s", f.stem().c_str());
    for (int warps : {4, 8, 16}) {
      double best = 1e30;
      for (int again = 0; again < 3; ++again) {
        void* args[] = {&clocks, &sink, &rounds};
        CHECK(cuLaunchKernel(function, 1, 1, 1, 32 * warps, 1, 1, 4096, 0, args, nullptr));
        if (CUresult r = cuCtxSynchronize(); r != CUDA_SUCCESS) { const char* s = ""; cuGetErrorString(r, &s); std::printf(" FAILED %s\n", s); return 1; }
        long long value; CHECK(cuMemcpyDtoH(&value, clocks, 8));
        best = std::min(best, double(value) / rounds / slots / (warps / 4));
      }
      std::printf(" %7.3f", best);
    }
    std::printf("\n"); std::fflush(stdout);
    CHECK(cuModuleUnload(module));
  }
  return 0;
}
