// cuda::pipeline with two stages that the whole block shares.
#include <cooperative_groups.h>
#include <cuda/pipeline>

__global__ void scaled(const float4* in, float* out, int tiles) {
  __shared__ float4 tile[2][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cooperative_groups::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  const int t = threadIdx.x;
  auto fetch = [&](int i) {
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[i & 1][t], in + i * 64 + t, cuda::aligned_size_t<16>(sizeof(float4)), pipe);
    pipe.producer_commit();
  };
  fetch(0);
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) fetch(i + 1);
    pipe.consumer_wait();
    const float4 other = tile[i & 1][63 - t];
    out[i * 64 + t] = other.x + 2 * other.y + 4 * other.z + 8 * other.w;
    pipe.consumer_release();
  }
}

int main() { scaled<<<1, 64>>>(nullptr, nullptr, 6); }
