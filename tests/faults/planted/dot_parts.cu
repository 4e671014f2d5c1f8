// The dot product of two vectors, one partial result a block.
#include <cuda_runtime.h>

template <int THREADS>
__global__ void dot_parts(const double* a, const double* b, double* parts, int n) {
  __shared__ double products[THREADS];
  const int begin = static_cast<int>(static_cast<long long>(n) * blockIdx.x / gridDim.x);  //@begin
  const int end = static_cast<int>(static_cast<long long>(n) * (blockIdx.x + 1) / gridDim.x);  //@end
  double sum = 0.0;
  for (int i = begin + threadIdx.x; i < end; i += THREADS) sum += a[i] * b[i];  //@load
  products[threadIdx.x] = sum;  //@fill
  __syncthreads();  //@filled
#pragma unroll
  for (int half = THREADS / 2; half >= 1; half /= 2) {
    if (threadIdx.x < half) products[threadIdx.x] += products[threadIdx.x + half];  //@step
    __syncthreads();  //@stepped
  }
  if (threadIdx.x == 0) parts[blockIdx.x] = products[0];  //@store
}

int main() {
  const int n = 60000, blocks = 64;
  double *a, *b, *parts;
  cudaMalloc(&a, n * sizeof(double));
  cudaMalloc(&b, n * sizeof(double));
  cudaMalloc(&parts, blocks * sizeof(double));
  dot_parts<64><<<blocks, 64>>>(a, b, parts, n);
}
