// Two buffers filled by asynchronous copies while the other is used.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#define T 128

__global__ void async_double(const float* in, float* out, int tiles) {
  __shared__ float stage[2][T];
  const int t = threadIdx.x;
  const float* from = in + blockIdx.x * tiles * T;
  __pipeline_memcpy_async(&stage[0][t], &from[t], sizeof(float));  //@first
  __pipeline_commit();
  float sum = 0.0f;
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) {  //@more
      __pipeline_memcpy_async(&stage[(i + 1) % 2][t], &from[(i + 1) * T + t], sizeof(float));  //@next
    }
    __pipeline_commit();
    __pipeline_wait_prior(1);  //@wait
    __syncthreads();  //@arrived
    sum += stage[i % 2][t] * stage[i % 2][T - 1 - t];  //@use
    __syncthreads();  //@used
  }
  out[blockIdx.x * T + t] = sum;  //@store
}

int main() {
  const int blocks = 10, tiles = 6;
  float *in, *out;
  cudaMalloc(&in, blocks * tiles * T * sizeof(float));
  cudaMalloc(&out, blocks * T * sizeof(float));
  async_double<<<blocks, T>>>(in, out, tiles);
}
