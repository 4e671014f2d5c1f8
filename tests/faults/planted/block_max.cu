// The greatest value of each block's part, by a helper that several kernels could share.
#include <cuda_runtime.h>
#include <float.h>

__device__ float block_max_of(float v, float* scratch) {
  scratch[threadIdx.x] = v;  //@fill
  __syncthreads();  //@filled
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) scratch[threadIdx.x] = fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + s]);  //@step
    __syncthreads();  //@stepped
  }
  return scratch[0];  //@result
}

__global__ void block_max(const float* x, float* best, int n) {
  __shared__ float scratch[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float v = i < n ? x[i] : -FLT_MAX;  //@load
  const float m = block_max_of(v, scratch);  //@call
  if (threadIdx.x == 0) best[blockIdx.x] = m;  //@store
}

int main() {
  const int n = 5000, threads = 128;
  const int blocks = (n + threads - 1) / threads;
  float *x, *best;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&best, blocks * sizeof(float));
  block_max<<<blocks, threads>>>(x, best, n);
}
