#include <cuda_runtime.h>
__global__ void hist_global(const unsigned* data, unsigned* bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[data[i] & 255u], 1u);
}
int main() {
  int n = 1 << 20;
  unsigned *d_data, *d_bins;
  cudaMalloc(&d_data, n * sizeof(unsigned));
  cudaMalloc(&d_bins, 256 * sizeof(unsigned));
  cudaMemset(d_bins, 0, 256 * sizeof(unsigned));
  hist_global<<<256, 256>>>(d_data, d_bins, n);
  cudaDeviceSynchronize();
}
