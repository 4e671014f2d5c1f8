#include <cuda_bf16.h>
__global__ void bf16_fma(const nv_bfloat162* a, const nv_bfloat162* b, nv_bfloat162* c, float* top, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  nv_bfloat162 sum = __hfma2(a[i], b[i], __float2bfloat162_rn(0.5f));
  sum = __hmax2(sum, __float2bfloat162_rn(-1.f));
  c[i] = sum;
  top[i] = __bfloat162float(__hmax(__low2bfloat16(a[i]), __high2bfloat16(b[i])));
}
int main() { bf16_fma<<<3, 32>>>(nullptr, nullptr, nullptr, nullptr, 70); }
