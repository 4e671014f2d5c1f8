#include <cuda_fp16.h>
__global__ void conversions(const float* x, const double* d, const unsigned char* bytes, int* whole, long long* wide,
                            float* back, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = x[i];
  whole[4 * i] = __float2int_rd(v);
  whole[4 * i + 1] = __float2int_ru(v) + __float2int_rn(v);
  whole[4 * i + 2] = (int)v + (int)__half2int_rz(__float2half(v));
  whole[4 * i + 3] = (signed char)(int)v + (short)(v * 300.f);
  wide[2 * i] = __double2ll_rd(d[i]);
  wide[2 * i + 1] = (long long)(unsigned long long)(fabs(d[i]) * 4.0);
  back[3 * i] = float(bytes[i]) * 0.5f;
  back[3 * i + 1] = float((long long)d[i]) + __saturatef(v);
  back[3 * i + 2] = roundf(v) + rintf(v) * 2.f + truncf(v) * 4.f;
}
int main() { conversions<<<3, 32>>>(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 75); }
