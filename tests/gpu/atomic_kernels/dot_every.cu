#include <cuda_runtime.h>
__global__ void dot_every(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, a[i] * b[i]);
}
int main() {
  int n = 1 << 18;
  float *d_a, *d_b, *d_out;
  cudaMalloc(&d_a, n * sizeof(float));
  cudaMalloc(&d_b, n * sizeof(float));
  cudaMalloc(&d_out, sizeof(float));
  cudaMemset(d_out, 0, sizeof(float));
  dot_every<<<(n + 255) / 256, 256>>>(d_a, d_b, d_out, n);
  cudaDeviceSynchronize();
}
