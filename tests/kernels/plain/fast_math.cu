__global__ void fast_math(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = x[i];
  y[4 * i] = __expf(-v) + __logf(v);
  y[4 * i + 1] = __sinf(v) + __cosf(v);
  y[4 * i + 2] = __fdividef(v, 3.f + v) + __powf(v, 1.5f);
  y[4 * i + 3] = rsqrtf(v) + __frcp_rn(v) + __fsqrt_rn(v) + tanhf(v);
}
int main() { fast_math<<<3, 32>>>(nullptr, nullptr, 96); }
