// Positions of the positive values within each block of 256: ballots, then a scan of the warps' counts.
#include <cuda_runtime.h>

__global__ void compact_ballot(const int* in, int* position, int n) {
  __shared__ int counts[8];
  const int i = blockIdx.x * 256 + threadIdx.x;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const bool keep = i < n && in[i] > 0;  //@load
  const unsigned int votes = __ballot_sync(0xffffffff, keep);
  if (lane == 0) counts[warp] = __popc(votes);  //@put
  __syncthreads();  //@counted
  int before = 0;
  for (int w = 0; w < warp; ++w) before += counts[w];  //@get
  const int mine = before + __popc(votes & ((1u << lane) - 1));
  if (i < n) position[i] = keep ? mine : -1;  //@store
}

int main() {
  const int n = 3333;
  int *in, *position;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&position, n * sizeof(int));
  compact_ballot<<<(n + 255) / 256, 256>>>(in, position, n);
}
