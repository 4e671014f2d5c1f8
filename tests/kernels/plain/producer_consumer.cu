// One warp fills a tile, the others use it: cuda::barrier with arrivals of some threads and waits of others.
#include <cuda/barrier>
using barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void pairs(const int* in, int* out, int tiles) {
  __shared__ int tile[96];
  __shared__ barrier empty, filled;
  if (threadIdx.x == 0) {
    init(&empty, 128);
    init(&filled, 128);
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int i = 0; i < tiles; ++i) {
      empty.arrive_and_wait();
      for (int k = threadIdx.x; k < 96; k += 32) tile[k] = 3 * in[i * 96 + k];
      barrier::arrival_token token = filled.arrive();
      (void)token;
    }
  } else {
    const int k = threadIdx.x - 32;
    barrier::arrival_token first = empty.arrive();
    (void)first;
    int all = 0;
    for (int i = 0; i < tiles; ++i) {
      filled.arrive_and_wait();
      all = 5 * all + tile[k] + tile[95 - k];
      barrier::arrival_token token = empty.arrive();
      (void)token;
    }
    out[k] = all;
  }
}

int main() { pairs<<<1, 128>>>(nullptr, nullptr, 4); }
