// Two halves at a time.
#include <cuda_fp16.h>
#include <stdio.h>

__global__ void relu_half2(const __half2* in, __half2* out, int n) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) out[i] = __hmax2(in[i], __float2half2_rn(0.f));
}

int main() {
  int n = 777;
  __half2 *in, *out;
  cudaMalloc(&in, n * sizeof(__half2));
  cudaMalloc(&out, n * sizeof(__half2));
  relu_half2<<<(n + 127) / 128, 128>>>(in, out, n);
  return cudaDeviceSynchronize();
}
