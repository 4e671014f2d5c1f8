// A sum in one launch: the last block to finish adds up what the others left.
#include <cuda_runtime.h>

__device__ unsigned int finished = 0;

__global__ void last_block_sum(const float* x, float* parts, float* sum, int n) {
  __shared__ float s[128];
  __shared__ bool last;
  float v = 0.0f;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) v += x[i];  //@load
  s[threadIdx.x] = v;  //@fill
  __syncthreads();  //@filled
  for (int d = 64; d > 0; d >>= 1) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];  //@step
    __syncthreads();  //@stepped
  }
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = s[0];  //@part
    __threadfence();  //@fence
    last = atomicAdd(&finished, 1u) == gridDim.x - 1;  //@last
  }
  __syncthreads();  //@known
  if (last && threadIdx.x == 0) {  //@is_last
    float all = 0.0f;
    for (int b = 0; b < gridDim.x; ++b) all += static_cast<volatile float*>(parts)[b];  //@gather
    *sum = all;  //@store
  }
}

int main() {
  const int n = 20000, blocks = 12;
  float *x, *parts, *sum;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&parts, blocks * sizeof(float));
  cudaMalloc(&sum, sizeof(float));
  last_block_sum<<<blocks, 128>>>(x, parts, sum, n);
}
