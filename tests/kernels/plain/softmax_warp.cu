#include <float.h>

static __device__ float warp_max(float v) {
  for (int o = 16; o; o /= 2) v = fmaxf(v, __shfl_down_sync(~0u, v, o));
  return __shfl_sync(~0u, v, 0);
}
static __device__ float warp_sum(float v) {
  for (int o = 16; o; o /= 2) v += __shfl_down_sync(~0u, v, o);
  return __shfl_sync(~0u, v, 0);
}

__global__ void softmax_warp(const float* x, float* y, int rows, int cols) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  float top = -FLT_MAX, sum = 0.f;
  for (int c = threadIdx.x; c < cols; c += 32) top = fmaxf(top, x[row * cols + c]);
  top = warp_max(top);
  for (int c = threadIdx.x; c < cols; c += 32) sum += expf(x[row * cols + c] - top);
  sum = warp_sum(sum);
  for (int c = threadIdx.x; c < cols; c += 32) y[row * cols + c] = expf(x[row * cols + c] - top) / sum;
}

int main() {
  int rows = 21, cols = 75;
  softmax_warp<<<(rows + 3) / 4, dim3(32, 4)>>>(nullptr, nullptr, rows, cols);
}
