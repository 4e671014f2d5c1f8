#include <cooperative_groups.h>
using namespace cooperative_groups;
__device__ int aggregated_add(int* counter) {
  coalesced_group active = coalesced_threads();
  int first = 0;
  if (active.thread_rank() == 0) first = atomicAdd(counter, active.size());
  return active.shfl(first, 0) + active.thread_rank();
}
__global__ void coalesced_group_filter(const int* x, int* kept, int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 50) kept[aggregated_add(count)] = x[i];
}
int main() { coalesced_group_filter<<<1, 128>>>(nullptr, nullptr, nullptr, 128); }
