// Softmax of each row, one block a row, greatest value and sum by trees in shared memory.
#include <cuda_runtime.h>

__global__ void softmax_rows(const float* x, float* y, int cols) {
  __shared__ float scratch[128];
  const float* in = x + blockIdx.x * cols;
  float* out = y + blockIdx.x * cols;
  float m = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) m = fmaxf(m, in[c]);  //@load
  scratch[threadIdx.x] = m;  //@fill
  __syncthreads();  //@filled
  for (int s = 64; s > 0; s /= 2) {
    if (threadIdx.x < s) scratch[threadIdx.x] = fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + s]);  //@max_step
    __syncthreads();  //@max_stepped
  }
  m = scratch[0];  //@max
  __syncthreads();  //@max_read
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += expf(in[c] - m);
  scratch[threadIdx.x] = sum;  //@fill_again
  __syncthreads();  //@filled_again
  for (int s = 64; s > 0; s /= 2) {
    if (threadIdx.x < s) scratch[threadIdx.x] += scratch[threadIdx.x + s];  //@sum_step
    __syncthreads();  //@sum_stepped
  }
  sum = scratch[0];  //@sum
  for (int c = threadIdx.x; c < cols; c += blockDim.x) out[c] = expf(in[c] - m) / sum;  //@store
}

int main() {
  const int rows = 40, cols = 333;
  float *x, *y;
  cudaMalloc(&x, rows * cols * sizeof(float));
  cudaMalloc(&y, rows * cols * sizeof(float));
  softmax_rows<<<rows, 128>>>(x, y, cols);
}
