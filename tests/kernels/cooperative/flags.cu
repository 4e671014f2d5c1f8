// A barrier of one's own: each CTA sets its flag, and its first thread walks all of them until every one is set.
extern "C" __global__ void flags(volatile int* set, int* sum) {
  if (threadIdx.x == 0) {
    set[blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    bool all;
    do {
      all = true;
#pragma unroll 1
      for (int i = 0; all && i < gridDim.x; ++i) all = set[i] == i + 1;
    } while (!all);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    int reached = 0;
    for (int i = 0; i < gridDim.x; ++i) reached += set[i] == i + 1;
    sum[blockIdx.x] = 100 * reached + blockIdx.x;
  }
}

extern "C" __global__ void flags_of_all(volatile int* set, int* sum) {
  for (int i = threadIdx.x; i < 24; i += blockDim.x) {
    set[i] = i + 1;
    sum[i] = 100 * 24 + i;
  }
}
