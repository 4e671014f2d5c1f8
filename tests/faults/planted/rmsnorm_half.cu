// RMS normalisation of half rows, read and written as half2.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void rmsnorm_half(const half* x, const half* weight, half* y, int dim, float eps) {
  __shared__ float sums[8];
  __shared__ float inverse;
  const half2* row = reinterpret_cast<const half2*>(x + blockIdx.x * dim);  //@row
  float sum = 0.0f;
  for (int i = threadIdx.x; i < dim / 2; i += blockDim.x) {  //@loop
    const float2 v = __half22float2(row[i]);  //@load
    sum += v.x * v.x + v.y * v.y;
  }
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_down_sync(0xffffffff, sum, o);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;  //@put
  __syncthreads();  //@put_done
  if (threadIdx.x == 0) {
    float all = 0.0f;
    for (int w = 0; w < 8; ++w) all += sums[w];  //@get
    inverse = rsqrtf(all / dim + eps);  //@inverse
  }
  __syncthreads();  //@known
  for (int i = threadIdx.x; i < dim / 2; i += blockDim.x) {  //@loop_out
    const float2 v = __half22float2(row[i]);
    const float2 w = __half22float2(reinterpret_cast<const half2*>(weight)[i]);
    half2* out = reinterpret_cast<half2*>(y + blockIdx.x * dim);
    out[i] = __floats2half2_rn(v.x * inverse * w.x, v.y * inverse * w.y);  //@store
  }
}

int main() {
  const int tokens = 20, dim = 600;
  half *x, *weight, *y;
  cudaMalloc(&x, tokens * dim * sizeof(half));
  cudaMalloc(&weight, dim * sizeof(half));
  cudaMalloc(&y, tokens * dim * sizeof(half));
  rmsnorm_half<<<tokens, 256>>>(x, weight, y, dim, 1e-6f);
}
