__global__ void funnel_ldg(const uint4* __restrict__ x, uint2* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uint4 v = __ldg(&x[i]);
  y[i] = make_uint2(__funnelshift_l(v.x, v.y, v.z) ^ __funnelshift_rc(v.x, v.y, v.w % 40),
                    __funnelshift_r(v.y, v.z, v.w) + __funnelshift_lc(v.z, v.w, v.x % 40));
}
int main() { const int n = 90; funnel_ldg<<<3, 32>>>(nullptr, nullptr, n); }
