#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void reduce_max_cg(const int* in, int* out, int n) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  int top = -2147483647;
  for (int i = cg::this_grid().thread_rank(); i < n; i += cg::this_grid().size()) top = max(top, in[i]);
  top = cg::reduce(tile, top, cg::greater<int>());
  if (tile.thread_rank() == 0) atomicMax(out, top);
}

int main() { reduce_max_cg<<<3, 128>>>(nullptr, nullptr, 1000); }
