// The sum of a vector: shuffles within a warp, shared memory between warps, an atomic between blocks.
#include <cuda_runtime.h>

__inline__ __device__ int warp_total(int v) {
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_down_sync(0xffffffff, v, offset);  //@shuffle
  return v;
}

__global__ void total_shuffle(const int* values, int* total, int n) {
  __shared__ int warp_sums[32];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += values[i];  //@load
  sum = warp_total(sum);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) warp_sums[warp] = sum;  //@fill
  __syncthreads();  //@filled
  if (warp == 0) {
    sum = lane < blockDim.x / 32 ? warp_sums[lane] : 0;  //@read
    sum = warp_total(sum);
    if (lane == 0) atomicAdd(total, sum);  //@add
  }
}

int main() {
  const int n = 50000;
  int *values, *total;
  cudaMalloc(&values, n * sizeof(int));
  cudaMalloc(&total, sizeof(int));
  cudaMemset(total, 0, sizeof(int));
  total_shuffle<<<24, 256>>>(values, total, n);
  cudaDeviceSynchronize();
}
