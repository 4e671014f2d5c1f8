// Two stages of shared memory, filled by cuda::memcpy_async, each with a cuda::barrier that its copies arrive at.
#include <cuda/barrier>

__global__ void reversed_sum(const float* in, float* out, int tiles) {
  constexpr int kThreads = 128;
  __shared__ float tile[2][kThreads];
  __shared__ cuda::barrier<cuda::thread_scope_block> filled[2];
  if (threadIdx.x < 2) init(&filled[threadIdx.x], blockDim.x);
  __syncthreads();
  const float* from = in + blockIdx.x * tiles * kThreads;
  auto fetch = [&](int i) {
    cuda::memcpy_async(&tile[i & 1][threadIdx.x], from + i * kThreads + threadIdx.x, sizeof(float), filled[i & 1]);
  };
  fetch(0);
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) fetch(i + 1);
    filled[i & 1].arrive_and_wait();
    sum += tile[i & 1][kThreads - 1 - threadIdx.x];
    __syncthreads();
  }
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}

int main() { reversed_sum<<<3, 128>>>(nullptr, nullptr, 5); }
