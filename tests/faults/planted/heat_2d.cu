// One step of the heat equation on a grid, borders kept.
#include <cuda_runtime.h>

__global__ void heat_2d(const float* now, float* next, int nx, int ny, float k) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;  //@guard
  const int i = y * nx + x;  //@index
  if (x == 0 || y == 0 || x == nx - 1 || y == ny - 1) {  //@border
    next[i] = now[i];  //@keep
    return;
  }
  const float around = now[i - 1] + now[i + 1] + now[i - nx] + now[i + nx];  //@load
  next[i] = now[i] + k * (around - 4.0f * now[i]);  //@store
}

int main() {
  const int nx = 130, ny = 70;
  float *now, *next;
  cudaMalloc(&now, nx * ny * sizeof(float));
  cudaMalloc(&next, nx * ny * sizeof(float));
  dim3 block(16, 16);
  dim3 grid((nx + 15) / 16, (ny + 15) / 16);
  heat_2d<<<grid, block>>>(now, next, nx, ny, 0.1f);
}
