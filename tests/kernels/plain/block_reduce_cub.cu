#include <cub/block/block_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
__global__ void block_reduce_cub(const int* in, int* sums, int* scanned, int rows) {
  using Reduce = cub::BlockReduce<int, 128>;
  using Scan = cub::WarpScan<int>;
  __shared__ typename Reduce::TempStorage reduce_space;
  __shared__ typename Scan::TempStorage scan_space[4];
  const int at = blockIdx.x * 128 + threadIdx.x, v = in[at];
  const int sum = Reduce(reduce_space).Sum(v);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  int before;
  Scan(scan_space[threadIdx.x / 32]).ExclusiveSum(v, before);
  scanned[at] = before;
}
int main() { block_reduce_cub<<<3, 128>>>(nullptr, nullptr, nullptr, 3); }
