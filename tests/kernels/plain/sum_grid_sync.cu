// As NVIDIA's sample reductionMultiBlockCG: each CTA leaves a part, all wait, and the first adds the parts up.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__device__ void sum_of_block(double* parts, double value, cg::thread_block block) {
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  parts[block.thread_rank()] = cg::reduce(tile, value, cg::plus<double>());
  cg::sync(block);
}

extern "C" __global__ void sum_grid(const float* in, double* out, unsigned int n) {
  __shared__ double parts[256];
  cg::thread_block block = cg::this_thread_block();
  const auto grid = cg::this_grid();
  double value = 0;
  for (unsigned int i = grid.thread_rank(); i < n; i += grid.size()) value += in[i];
  sum_of_block(parts, value, block);
  if (block.thread_rank() == 0) {
    double all = 0;
    for (int i = 0; i < block.size(); i += 32) all += parts[i];
    out[blockIdx.x] = all;
  }
  cg::sync(grid);
  if (grid.thread_rank() == 0)
    for (int i = 1; i < gridDim.x; ++i) out[0] += out[i];
}

void call(const float* in, double* out, unsigned int n) {
  int blocks = 40;
  void* arguments[] = {&in, &out, &n};
  cudaLaunchCooperativeKernel((void*)sum_grid, dim3(blocks, 1, 1), dim3(256, 1, 1), arguments);
}
