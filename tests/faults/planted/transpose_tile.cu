// Transpose through a padded tile, four rows a thread.
#include <cuda_runtime.h>

const int TILE = 32;
const int ROWS = 8;

__global__ void transpose_tile(const float* in, float* out, int width, int height) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS) {
    if (x < width && y + j < height) {  //@inside
      tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];  //@load
    }
  }
  __syncthreads();  //@loaded
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS) {
    if (x < height && y + j < width) {  //@inside_out
      out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];  //@store
    }
  }
}

int main() {
  const int width = 200, height = 120;
  float *in, *out;
  cudaMalloc(&in, width * height * sizeof(float));
  cudaMalloc(&out, width * height * sizeof(float));
  dim3 block(TILE, ROWS);
  dim3 grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE);
  transpose_tile<<<grid, block>>>(in, out, width, height);
}
