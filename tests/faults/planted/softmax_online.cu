// Online softmax, one warp a row: greatest value and sum in one pass, joined by shuffles.
#include <cuda_runtime.h>

__global__ void softmax_online(const float* x, float* y, int rows, int cols) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x & 31;
  if (row >= rows) return;  //@guard
  float m = -INFINITY, l = 0.0f;
  for (int c = lane; c < cols; c += 32) {  //@loop
    const float v = x[row * cols + c];  //@load
    const float bigger = fmaxf(m, v);
    l = l * __expf(m - bigger) + __expf(v - bigger);
    m = bigger;
  }
  for (int o = 16; o > 0; o /= 2) {
    const float other_m = __shfl_xor_sync(0xffffffff, m, o);  //@max
    const float other_l = __shfl_xor_sync(0xffffffff, l, o);  //@sum
    const float bigger = fmaxf(m, other_m);
    l = l * __expf(m - bigger) + other_l * __expf(other_m - bigger);
    m = bigger;
  }
  for (int c = lane; c < cols; c += 32) y[row * cols + c] = __expf(x[row * cols + c] - m) / l;  //@store
}

int main() {
  const int rows = 50, cols = 200;
  float *x, *y;
  cudaMalloc(&x, rows * cols * sizeof(float));
  cudaMalloc(&y, rows * cols * sizeof(float));
  softmax_online<<<(rows + 3) / 4, 128>>>(x, y, rows, cols);
}
