#include <cuda_runtime.h>
__global__ void dot_warp(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = i < n ? a[i] * b[i] : 0.f;
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) atomicAdd(out, s);
}
int main() {
  int n = 1 << 18;
  float *d_a, *d_b, *d_out;
  cudaMalloc(&d_a, n * sizeof(float));
  cudaMalloc(&d_b, n * sizeof(float));
  cudaMalloc(&d_out, sizeof(float));
  cudaMemset(d_out, 0, sizeof(float));
  dot_warp<<<(n + 255) / 256, 256>>>(d_a, d_b, d_out, n);
  cudaDeviceSynchronize();
}
