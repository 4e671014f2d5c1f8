// y = A x, one warp a row, four elements of the row at a time.
#include <cuda_runtime.h>

__global__ void matvec_warp(const float* A, const float* x, float* y, int rows, int cols) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;  //@guard
  const float4* a = reinterpret_cast<const float4*>(A + row * cols);  //@row
  const float4* b = reinterpret_cast<const float4*>(x);
  float sum = 0.0f;
  for (int i = lane; i < cols / 4; i += 32) {  //@loop
    const float4 p = a[i], q = b[i];  //@load
    sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
  }
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_down_sync(0xffffffff, sum, o);  //@shuffle
  if (lane == 0) y[row] = sum;  //@store
}

int main() {
  const int rows = 58, cols = 512;
  float *A, *x, *y;
  cudaMalloc(&A, rows * cols * sizeof(float));
  cudaMalloc(&x, cols * sizeof(float));
  cudaMalloc(&y, rows * sizeof(float));
  matvec_warp<<<(rows * 32 + 127) / 128, 128>>>(A, x, y, rows, cols);
}
