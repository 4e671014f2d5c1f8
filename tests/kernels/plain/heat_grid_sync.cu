// One launch for all steps of a heat equation: every CTA waits for the whole grid after each step.
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;

__device__ float relaxed(const float* from, int i, int n) {
  if (i == 0 || i == n - 1) return from[i];
  return 0.25f * from[i - 1] + 0.5f * from[i] + 0.25f * from[i + 1];
}

__global__ void heat(float* a, float* b, int n, int steps) {
  cg::grid_group grid = cg::this_grid();
  float *from = a, *to = b;
  for (int step = 0; step < steps; ++step) {
    for (int i = grid.thread_rank(); i < n; i += grid.size()) to[i] = relaxed(from, i, n);
    grid.sync();
    float* other = from;
    from = to;
    to = other;
  }
}

int main() {
  int n = 3000, steps = 6, blocks_of_sm = 0;
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  int threads = 128;
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_of_sm, heat, threads, 0);
  dim3 grid(device.multiProcessorCount * blocks_of_sm), block(threads);
  void* arguments[] = {(void*)&a, (void*)&b, (void*)&n, &steps};
  cudaLaunchCooperativeKernel((void*)heat, grid, block, arguments, 0, 0);
  cudaDeviceSynchronize();
  printf("done\n");
}
