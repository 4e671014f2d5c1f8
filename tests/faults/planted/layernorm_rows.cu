// Layer normalisation: mean and variance of a row through a helper that sums over the block.
#include <cuda_runtime.h>

__device__ __forceinline__ float sum_of_block(float v, float* warps) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;  //@put
  __syncthreads();  //@put_done
  float total = 0.0f;
  for (int w = 0; w < blockDim.x / 32; ++w) total += warps[w];  //@get
  __syncthreads();  //@got
  return total;
}

__global__ void layernorm_rows(const float* x, const float* gain, const float* bias, float* y, int C) {
  __shared__ float warps[32];
  const float* row = x + blockIdx.x * C;
  float s = 0.0f;
  for (int i = threadIdx.x; i < C; i += blockDim.x) s += row[i];  //@load
  const float mean = sum_of_block(s, warps) / C;  //@mean
  float v = 0.0f;
  for (int i = threadIdx.x; i < C; i += blockDim.x) v += (row[i] - mean) * (row[i] - mean);
  const float scale = rsqrtf(sum_of_block(v, warps) / C + 1e-5f);  //@variance
  for (int i = threadIdx.x; i < C; i += blockDim.x) {
    y[blockIdx.x * C + i] = (row[i] - mean) * scale * gain[i] + bias[i];  //@store
  }
}

int main() {
  const int N = 24, C = 770;
  float *x, *gain, *bias, *y;
  cudaMalloc(&x, N * C * sizeof(float));
  cudaMalloc(&gain, C * sizeof(float));
  cudaMalloc(&bias, C * sizeof(float));
  cudaMalloc(&y, N * C * sizeof(float));
  layernorm_rows<<<N, 256>>>(x, gain, bias, y, C);
}
