// What the first level holds of local memory: one CTA's warps go round the words of a local array, each load giving the
// next one's index, and the clocks of a load say whether it hits. A word of a warp's 32 lanes is one line of 128 bytes.
// Prints, for each share of the memory given to shared memory, whether the words are also stored before each round, and
// the number of warps: lines of all warps, and clocks of a load.
#include <cuda_runtime.h>
#include <cstdio>
__global__ void go_round(int words, int stores, int rounds, long long* clocks, int* sink) {
  int next[512];
  extern __shared__ int end[];
  int at = sink[0];
  const int zero = at;
  long long spent = 0;
  for (int i = 0; i < words; i++) next[i] = i + 1 < words ? i + 1 : 0;
  for (int r = -2; r < rounds; r++) {
    if (stores)
      for (int i = 0; i < words; i++) next[i] = zero + (i + 1 < words ? i + 1 : 0);
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 1
    for (int i = 0; i < words; i++) at = next[at];
    end[threadIdx.x] = at;
    __syncthreads();
    if (r >= 0) spent += clock64() - begin;
  }
  if (!threadIdx.x) clocks[0] = spent;
  sink[1 + threadIdx.x] = at;
}
int main() {
  constexpr int kRounds = 50;
  long long *clocks, spent;
  int* sink;
  cudaMalloc(&clocks, 8);
  cudaMalloc(&sink, 9999);
  cudaMemset(sink, 0, 9999);
  cudaFuncSetAttribute(go_round, cudaFuncAttributeMaxDynamicSharedMemorySize, 200000);
  for (const int carve : {100, 50, 0})
    for (const int stores : {0, 1})
      for (const int warps : {1, 4, 8, 16}) {
        cudaFuncSetAttribute(go_round, cudaFuncAttributePreferredSharedMemoryCarveout, carve);
        std::printf("carve %d store %d warps %d:", carve, stores, warps);
        const int shared = carve == 100 ? 200000 : carve == 50 ? 100000 : 4096;
        for (int n = 8; n <= 512; n += n < 64 ? 8 : n < 128 ? 16 : 64) {
          if (warps * n * 128 > 300000 && n > 64) break;
          go_round<<<1, warps * 32, shared>>>(n, stores, kRounds, clocks, sink);
          cudaMemcpy(&spent, clocks, 8, cudaMemcpyDeviceToHost);
          std::printf(" %d:%.0f", warps * n, double(spent) / kRounds / n);
        }
        std::printf(" %s\n", cudaGetErrorString(cudaGetLastError()));
      }
}
