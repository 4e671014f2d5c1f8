#include <cuda_bf16.h>
#include <cmath>

__global__ void silu_bf16(const __nv_bfloat162* x, __nv_bfloat162* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float2 v = __bfloat1622float2(x[i]);
  y[i] = __floats2bfloat162_rn(v.x / (1.f + expf(-v.x)), v.y / (1.f + expf(-v.y)));
}
