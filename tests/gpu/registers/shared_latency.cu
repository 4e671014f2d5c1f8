// Latency of shared loads by width (LDS.32, .64, .128, LDSM.x1, .x2, .x4, with .trans), and what each costs a scheduler that
// otherwise issues FFMA: the model takes one latency (LDS.32's) for all.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e)); std::exit(1); } } while (0)
enum What { lds32, lds64, lds128, ldsm1, ldsm2, ldsm4, ldsm4t, kWhats };
const char* const kNames[] = {"lds.32", "lds.64", "lds.128", "ldsm.x1", "ldsm.x2", "ldsm.x4", "ldsm.x4.trans"};
template <What what> __device__ __forceinline__ unsigned load(unsigned at, unsigned (&v)[4]) {
  if constexpr (what == lds32) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v[0]) : "r"(at));
  if constexpr (what == lds64) asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];" : "=r"(v[0]), "=r"(v[1]) : "r"(at));
  if constexpr (what == lds128) asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(at));
  if constexpr (what == ldsm1) asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(v[0]) : "r"(at));
  if constexpr (what == ldsm2) asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(v[0]), "=r"(v[1]) : "r"(at));
  if constexpr (what == ldsm4) asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(at));
  if constexpr (what == ldsm4t) asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(at));
  return v[0];
}
// Shared memory is zero: the loaded word (0) is added to the address, so each load waits for the one before, plus one IADD of 4 clocks.
template <What what> __global__ void latency(long long* clocks, unsigned* sink) {
  extern __shared__ uint4 tile[];
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) tile[i] = uint4{0, 0, 0, 0};
  __syncthreads();
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(tile)) + threadIdx.x % 32 * 16;
  unsigned at = base, v[4] = {};
  long long start = 0;
#pragma unroll 1
  for (int warm = 0; warm < 2; ++warm) {
    start = clock64();
#pragma unroll
    for (int i = 0; i < 256; ++i) at = base + load<what>(at, v);
    *clocks = clock64() - start;
  }
  sink[threadIdx.x] = at;
}
// kFma independent FFMA for each load; nothing waits for the loads but the end of 8 of them.
template <What what, int kFma> __global__ void mixed(long long* clocks, unsigned* sink, unsigned zero, float y) {
  extern __shared__ uint4 tile[];
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) tile[i] = uint4{0, 0, 0, 0};
  unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(tile)) + threadIdx.x % 32 * 16, sum = 0;
  float x[16];
  for (int c = 0; c < 16; ++c) x[c] = threadIdx.x + c;
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int r = 0; r < 64; ++r, base += zero) {
    unsigned v[8][4] = {};
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      load<what>(base, v[k]);
#pragma unroll
      for (int f = 0; f < kFma; ++f) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x[f % 16]) : "f"(y));
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) sum ^= v[k][0] ^ v[k][1] ^ v[k][2] ^ v[k][3];
  }
  __syncthreads();
  if (threadIdx.x == 0) *clocks = clock64() - start;
  for (int c = 0; c < 16; ++c) sum ^= __float_as_uint(x[c]);
  sink[threadIdx.x] = sum;
}
long long* d_clocks; unsigned* d_sink;
double clocks() { long long c; CHECK(cudaMemcpy(&c, d_clocks, 8, cudaMemcpyDeviceToHost)); return double(c); }
template <What what> void measure() {
  latency<what><<<1, 32, 16384>>>(d_clocks, d_sink);
  std::printf("%-14s latency with one IADD %.2f clocks\n", kNames[what], clocks() / 256);
  for (int warps : {4, 8, 16}) {
    mixed<what, 0><<<1, 32 * warps, 16384>>>(d_clocks, d_sink, 0, 0.5f); const double none = clocks();
    mixed<what, 16><<<1, 32 * warps, 16384>>>(d_clocks, d_sink, 0, 0.5f); const double some = clocks();
    mixed<what, 32><<<1, 32 * warps, 16384>>>(d_clocks, d_sink, 0, 0.5f); const double many = clocks();
    const double each = 64 * 8 * (warps / 4);
    std::printf("  %2d warps: clocks a load and scheduler: alone %.2f, with 16 FFMA %.2f, with 32 FFMA %.2f\n", warps, none / each, some / each, many / each);
  }
}
int main() {
  CHECK(cudaMalloc(&d_clocks, 8)); CHECK(cudaMalloc(&d_sink, 1 << 16));
  measure<lds32>(); measure<lds64>(); measure<lds128>(); measure<ldsm1>(); measure<ldsm2>(); measure<ldsm4>(); measure<ldsm4t>();
  CHECK(cudaDeviceSynchronize());
  return 0;
}
