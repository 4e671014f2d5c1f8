// y = a * x + y in a grid-stride loop.
#include <cuda_runtime.h>

__global__ void saxpy_stride(int n, float a, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {  //@loop
    y[i] = a * x[i] + y[i];  //@store
  }
}

int main() {
  const int n = 7777;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(y, 0, n * sizeof(float));
  saxpy_stride<<<8, 256>>>(n, 2.0f, x, y);
}
