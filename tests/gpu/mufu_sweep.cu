// Whole sweeps of the hardware's approximations: the bits from which a table or its reader is derived.
//
//   nvcc -arch=sm_90 -o mufu_sweep mufu_sweep.cu && ./mufu_sweep DIRECTORY
//
// One file per function and range, one byte per input in ascending order of its mantissa: the low 8 bits of the result.
// The upper bits are those of the float nearest to the true value that has these low bits. 2^23 inputs per range, or
// every third or fifth of them.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

enum Function { kEx2, kRcp, kLg2, kRsq, kSqrt, kSin, kCos, kTanh };

template <int kFunction>
__global__ void sweep(unsigned char* out, unsigned first, unsigned step, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float x = __uint_as_float(first + step * static_cast<unsigned>(i));
  float y;
  if constexpr (kFunction == kEx2) asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if constexpr (kFunction == kRcp) asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if constexpr (kFunction == kLg2) asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if constexpr (kFunction == kRsq) asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if constexpr (kFunction == kSqrt) asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if constexpr (kFunction == kSin) asm("sin.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if constexpr (kFunction == kCos) asm("cos.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if constexpr (kFunction == kTanh) asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  out[i] = static_cast<unsigned char>(__float_as_uint(y));
}

void expect(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "%s failed\n", what);
  std::exit(1);
}

template <int kFunction>
void record(const std::string& path, float from, unsigned step) {
  const int count = static_cast<int>((1u << 23) / step);
  unsigned first;
  static_assert(sizeof first == sizeof from);
  __builtin_memcpy(&first, &from, 4);
  unsigned char* out = nullptr;
  std::vector<unsigned char> host(count);
  expect(cudaMalloc(&out, count) == cudaSuccess, "cudaMalloc");
  sweep<kFunction><<<count / 256, 256>>>(out, first, step, count);
  expect(cudaMemcpy(host.data(), out, count, cudaMemcpyDeviceToHost) == cudaSuccess, "cudaMemcpy");
  cudaFree(out);
  std::FILE* file = std::fopen(path.c_str(), "wb");
  expect(file != nullptr && std::fwrite(host.data(), 1, host.size(), file) == host.size() && std::fclose(file) == 0,
         path.c_str());
}

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: mufu_sweep DIRECTORY\n"), 2;
  const std::string to = std::string(argv[1]) + "/";
  record<kEx2>(to + "ex2_1.u8", 1.0f, 1);     // [1, 2): 23 bits below the point
  record<kEx2>(to + "ex2_half.u8", 0.5f, 3);  // [1/2, 1): 24 bits
  record<kEx2>(to + "ex2_quarter.u8", 0.25f, 3);
  record<kEx2>(to + "ex2_thirtysecond.u8", 0x1p-5f, 5);
  record<kEx2>(to + "ex2_minus_half.u8", -0.5f, 3);
  record<kEx2>(to + "ex2_minus_eighth.u8", -0.125f, 5);
  record<kEx2>(to + "ex2_minus_8.u8", -8.0f, 5);
  record<kRcp>(to + "rcp.u8", 1.0f, 1);
  record<kLg2>(to + "lg2_half.u8", 0.5f, 1);
  record<kLg2>(to + "lg2_1.u8", 1.0f, 1);
  record<kLg2>(to + "lg2_2.u8", 2.0f, 5);
  record<kLg2>(to + "lg2_1024.u8", 1024.0f, 5);
  record<kRsq>(to + "rsq_1.u8", 1.0f, 1);
  record<kRsq>(to + "rsq_2.u8", 2.0f, 1);
  record<kSqrt>(to + "sqrt_1.u8", 1.0f, 3);
  record<kSqrt>(to + "sqrt_2.u8", 2.0f, 3);
  record<kSin>(to + "sin_half.u8", 0.5f, 3);
  record<kSin>(to + "sin_3.u8", 3.0f, 3);
  record<kCos>(to + "cos_half.u8", 0.5f, 3);
  record<kTanh>(to + "tanh_half.u8", 0.5f, 3);
  return 0;
}
