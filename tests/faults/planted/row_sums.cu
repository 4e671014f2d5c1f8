// One block sums a row in shared memory.
#include <cuda_runtime.h>

__global__ void row_sums(const float* x, float* sums, int columns) {
  __shared__ float partial[256];
  const int row = blockIdx.x;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += x[row * columns + i];  //@load
  partial[threadIdx.x] = sum;  //@fill
  __syncthreads();  //@filled
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];  //@add
    __syncthreads();  //@step
  }
  if (threadIdx.x == 0) sums[row] = partial[0];  //@store
}

int main() {
  const int rows = 48, columns = 1000;
  float *x, *sums;
  cudaMalloc(&x, rows * columns * sizeof(float));
  cudaMalloc(&sums, rows * sizeof(float));
  row_sums<<<rows, 256>>>(x, sums, columns);
  cudaDeviceSynchronize();
  return 0;
}
