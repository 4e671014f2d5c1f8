// The four greatest values of each row, kept in a small array of the thread.
#include <cuda_runtime.h>

__global__ void top_four(const float* x, float* top, int rows, int cols, int keep) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;  //@guard
  float best[8];
  for (int i = 0; i < keep; ++i) best[i] = -1e30f;  //@clear
  for (int c = 0; c < cols; ++c) {
    float v = x[row * cols + c];  //@load
    for (int i = 0; i < keep; ++i) {
      if (v > best[i]) {  //@compare
        const float other = best[i];
        best[i] = v;
        v = other;
      }
    }
  }
  for (int i = 0; i < keep; ++i) top[row * keep + i] = best[i];  //@store
}

int main() {
  const int rows = 100, cols = 60, keep = 4;
  float *x, *top;
  cudaMalloc(&x, rows * cols * sizeof(float));
  cudaMalloc(&top, rows * keep * sizeof(float));
  top_four<<<(rows + 63) / 64, 64>>>(x, top, rows, cols, keep);
}
