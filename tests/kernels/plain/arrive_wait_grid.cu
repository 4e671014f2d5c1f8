// The grid's barrier in two parts: what does not depend on the others goes between them. And a barrier of one's own.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ unsigned int arrived;

__global__ void arrive_wait(const int* in, int* out, int* ranks, int n) {
  cg::grid_group grid = cg::this_grid();
  const int i = grid.thread_rank();
  if (i < n) out[i] = in[i];
  auto token = grid.barrier_arrive();
  if (i < n) ranks[i] = grid.block_rank();
  grid.barrier_wait(static_cast<decltype(token)&&>(token));
  const int other = i < n ? out[n - 1 - i] : 0;
  // All CTAs have read before one writes: a counter that every CTA raises and polls.
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&arrived, 1);
    while (*(volatile unsigned int*)&arrived < gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
  if (i < n) out[i] = in[i] + 1000 * other;
}

int main() {
  arrive_wait<<<10, 64>>>(nullptr, nullptr, nullptr, 640);
}
