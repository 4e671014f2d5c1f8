// The hardware's approximations over a range of mantissas, to compare the emulator with
// (tests/kernels/approximations_test.cpp runs the same kernel on it).
//
//   nvcc -arch=sm_90 -o approximations approximations.cu && ./approximations h200_approximations.bin
//
// out[f * count + i] is function f of sample i: ex2 over [0, 1), rcp, lg2 and rsqrt over [1, 2). Sample i's mantissa is
// i * 256 + (37 * i) % 256: one in each 256 of the 2^23, at every residue.
extern "C" __global__ void approximations(unsigned* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float x = __uint_as_float(0x3f800000u | (unsigned)(i * 256 + (37 * i) % 256));
  float ex2, rcp, lg2, rsqrt;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(ex2) : "f"(x - 1.0f));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(rcp) : "f"(x));
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(lg2) : "f"(x));
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(rsqrt) : "f"(x));
  out[i] = __float_as_uint(ex2);
  out[count + i] = __float_as_uint(rcp);
  out[2 * count + i] = __float_as_uint(lg2);
  out[3 * count + i] = __float_as_uint(rsqrt);
}

#ifndef __CUDACC_RTC__
#include <cstdio>
#include <vector>

int main(int, char** argv) {
  constexpr int kCount = 1 << 15, kFunctions = 4;
  unsigned* out = nullptr;
  std::vector<unsigned> host(kCount * kFunctions);
  if (cudaMalloc(&out, host.size() * 4) != cudaSuccess) return 1;
  approximations<<<kCount / 256, 256>>>(out, kCount);
  if (cudaMemcpy(host.data(), out, host.size() * 4, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  FILE* file = argv[1] ? std::fopen(argv[1], "wb") : nullptr;
  if (!file || std::fwrite(host.data(), 4, host.size(), file) != host.size()) return 1;
  return std::fclose(file);
}
#endif
