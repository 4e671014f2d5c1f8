#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
__global__ void scan_cg(const int* in, int* out, int* firsts, int n) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = cg::inclusive_scan(tile, in[i]);
  const auto half_of = cg::binary_partition(tile, in[i] % 2 == 0);
  firsts[i] = half_of.shfl(in[i], 0) + 1000 * half_of.size();
}
int main() { scan_cg<<<3, 64>>>(nullptr, nullptr, nullptr, 192); }
