#include <cuda_runtime.h>
__global__ void hist_shared(const unsigned* data, unsigned* bins, int n) {
  __shared__ unsigned local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[data[i] & 255u], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
int main() {
  int n = 1 << 20;
  unsigned *d_data, *d_bins;
  cudaMalloc(&d_data, n * sizeof(unsigned));
  cudaMalloc(&d_bins, 256 * sizeof(unsigned));
  cudaMemset(d_bins, 0, 256 * sizeof(unsigned));
  hist_shared<<<256, 256>>>(d_data, d_bins, n);
  cudaDeviceSynchronize();
}
