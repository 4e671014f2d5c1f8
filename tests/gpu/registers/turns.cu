// What it costs a scheduler that its warps take turns, by how far apart they are in the code: each warp has `kChains` chains of FFMA
// (a stall count of 4 / kChains between two of a chain), so several warps take turns.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e)); std::exit(1); } } while (0)
template <int kBody, int kChains>
__global__ void turns(long long* clocks, unsigned* sink, int rounds, int skew) {
  float x[kChains];
  for (int c = 0; c < kChains; ++c) x[c] = threadIdx.x + c;
  const float y = __uint_as_float(sink[0] & 0x3fffffff);
  __syncthreads();
  const long long begin = clock64();
  while (clock64() - begin < (threadIdx.x / 32) * skew) {}
#pragma unroll 1
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int i = 0; i < kBody / kChains; ++i)
#pragma unroll
      for (int c = 0; c < kChains; ++c) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x[c]) : "f"(y));
  const long long end = clock64();
  if (threadIdx.x % 32 == 0) clocks[2 * (threadIdx.x / 32)] = begin, clocks[2 * (threadIdx.x / 32) + 1] = end;
  float sum = 0;
  for (int c = 0; c < kChains; ++c) sum += x[c];
  sink[threadIdx.x] = __float_as_uint(sum);
}
long long* d_clocks; unsigned* d_sink;
template <int kBody, int kChains> void measure() {
  for (int warps : {4, 8, 16, 32}) {
    std::printf("turns body %5d chains %d warps %2d:", kBody, kChains, warps);
    for (int skew : {0, 61, 333, 1501}) {
      const int rounds = std::max(16, 262144 / kBody);
      for (int again = 0; again < 2; ++again) turns<kBody, kChains><<<1, 32 * warps>>>(d_clocks, d_sink, rounds, skew);
      std::vector<long long> c(2 * warps); CHECK(cudaMemcpy(c.data(), d_clocks, 16 * warps, cudaMemcpyDeviceToHost));
      long long first = c[0], last = c[1];
      for (int w = 0; w < warps; ++w) first = std::min(first, c[2 * w]), last = std::max(last, c[2 * w + 1]);
      std::printf("  skew %4d %.3f", skew, double(last - first) / rounds / kBody / (warps / 4.0));
    }
    std::printf(" clocks an instruction and scheduler, first to last of all warps\n");
  }
}
int main() {
  CHECK(cudaMalloc(&d_clocks, 4096)); CHECK(cudaMalloc(&d_sink, 1 << 20)); CHECK(cudaMemset(d_sink, 0, 1 << 20));
  measure<64, 1>(); measure<64, 2>(); measure<64, 4>(); measure<256, 1>(); measure<256, 2>(); measure<512, 2>(); measure<512, 4>(); measure<1024, 1>(); measure<1024, 2>(); measure<1024, 4>();
  measure<2048, 1>(); measure<2048, 2>(); measure<2048, 4>(); measure<4096, 2>(); measure<4096, 4>();
  return 0;
}
