#include <stdio.h>

__global__ void reduce_sum(const int* in, int* total, int n) {
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  for (int o = warpSize / 2; o > 0; o >>= 1) sum += __shfl_down_sync(0xffffffff, sum, o);
  if ((threadIdx.x & (warpSize - 1)) == 0) atomicAdd(total, sum);
}

int main() { reduce_sum<<<6, 192>>>(nullptr, nullptr, 10000); }
