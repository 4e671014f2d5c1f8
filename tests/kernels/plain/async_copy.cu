#include <cuda_pipeline.h>
__global__ void async_copy(const float4* in, float4* out, int rows) {
  __shared__ float4 s[2][64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&s[0][t], &in[blockIdx.x * 128 + t], sizeof(float4));
  __pipeline_commit();
  __pipeline_memcpy_async(&s[1][t], &in[blockIdx.x * 128 + 64 + t], sizeof(float4));
  __pipeline_commit();
  for (int stage = 0; stage < 2; ++stage) {
    if (stage == 0) __pipeline_wait_prior(1);
    else __pipeline_wait_prior(0);
    __syncthreads();
    const float4 v = s[stage][63 - t];
    out[blockIdx.x * 128 + stage * 64 + t] = make_float4(v.w, v.z, v.y, v.x);
  }
}
int main() { async_copy<<<4, 64>>>(nullptr, nullptr, 4); }
