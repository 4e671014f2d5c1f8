// The index of each row's greatest value: values and indices side by side in shared memory.
#include <cuda_runtime.h>

__global__ void argmax_rows(const float* x, int* best, int cols) {
  __shared__ float value[128];
  __shared__ int index[128];
  const int t = threadIdx.x;
  float v = -1e30f;
  int at = 0;
  for (int c = t; c < cols; c += 128) {
    if (x[blockIdx.x * cols + c] > v) {  //@load
      v = x[blockIdx.x * cols + c];
      at = c;
    }
  }
  value[t] = v;  //@put_value
  index[t] = at;  //@put_index
  __syncthreads();  //@filled
  for (int s = 64; s > 0; s >>= 1) {
    if (t < s && value[t + s] > value[t]) {  //@compare
      value[t] = value[t + s];  //@take_value
      index[t] = index[t + s];  //@take_index
    }
    __syncthreads();  //@stepped
  }
  if (t == 0) best[blockIdx.x] = index[0];  //@store
}

int main() {
  const int rows = 30, cols = 500;
  float* x;
  int* best;
  cudaMalloc(&x, rows * cols * sizeof(float));
  cudaMalloc(&best, rows * sizeof(int));
  argmax_rows<<<rows, 128>>>(x, best, cols);
}
