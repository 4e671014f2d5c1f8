// Histogram of bytes: each block counts in shared memory, then adds to the whole.
#include <cuda_runtime.h>

#define BINS 256

__global__ void histogram_private(const unsigned char* data, unsigned int* counts, int n) {
  __shared__ unsigned int local[BINS];
  local[threadIdx.x] = 0;  //@clear
  __syncthreads();  //@cleared
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[data[i]], 1u);  //@count
  }
  __syncthreads();  //@counted
  atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);  //@add
}

int main() {
  const int n = 40000;
  unsigned char* data;
  unsigned int* counts;
  cudaMalloc(&data, n);
  cudaMalloc(&counts, BINS * sizeof(unsigned int));
  cudaMemset(counts, 0, BINS * sizeof(unsigned int));
  histogram_private<<<16, BINS>>>(data, counts, n);
}
