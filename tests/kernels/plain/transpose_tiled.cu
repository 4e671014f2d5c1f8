// 32 by 32 tiles with a padded column, 8 rows of threads.
#include <cuda_runtime.h>
#define TILE 32

__global__ void transpose_tiled(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[TILE][TILE + 1];
  int c = blockIdx.x * TILE + threadIdx.x, r = blockIdx.y * TILE + threadIdx.y;
  for (int k = 0; k < TILE; k += 8)
    if (r + k < rows && c < cols) tile[threadIdx.y + k][threadIdx.x] = in[(r + k) * cols + c];
  __syncthreads();
  c = blockIdx.y * TILE + threadIdx.x, r = blockIdx.x * TILE + threadIdx.y;
  for (int k = 0; k < TILE; k += 8)
    if (r + k < cols && c < rows) out[(r + k) * rows + c] = tile[threadIdx.x][threadIdx.y + k];
}

int main() {
  const int rows = 100, cols = 70;
  float *a, *b;
  cudaMalloc(&a, rows * cols * 4);
  cudaMalloc(&b, rows * cols * 4);
  dim3 block(TILE, 8), grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
  transpose_tiled<<<grid, block>>>(a, b, rows, cols);
}
