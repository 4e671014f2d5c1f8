#include <cuda_fp16.h>
__global__ void half2_polynomial(const __half2* x, __half2* y, half* most, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half2 v = x[i], one = __float2half2_rn(1.f);
  __half2 p = __hfma2(v, __hfma2(v, __float2half2_rn(0.5f), one), one);  // 1 + v + v^2 / 2
  p = __hadd2(p, __hmul2(__hneg2(v), __float2half2_rn(0.25f)));
  const __half2 below = __hlt2(v, __float2half2_rn(0.f));  // 1 where it is
  y[i] = __hadd2(p, below);
  most[i] = __hmax(__low2half(v), __high2half(v));
}
int main() { half2_polynomial<<<3, 32>>>(nullptr, nullptr, nullptr, 80); }
