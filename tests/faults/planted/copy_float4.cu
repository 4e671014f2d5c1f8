// A copy by vectors of four, the rest by single elements.
#include <cuda_runtime.h>

__global__ void copy_float4(const float* src, float* dst, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int vectors = n / 4;
  if (i < vectors) {  //@whole
    reinterpret_cast<float4*>(dst)[i] = reinterpret_cast<const float4*>(src)[i];  //@vector
  }
  if (i < n % 4) dst[vectors * 4 + i] = src[vectors * 4 + i];  //@rest
}

int main() {
  const int n = 10003;
  float *src, *dst;
  cudaMalloc(&src, n * sizeof(float));
  cudaMalloc(&dst, n * sizeof(float));
  copy_float4<<<(n / 4 + 255) / 256, 256>>>(src, dst, n);
}
