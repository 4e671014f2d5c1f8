#include <cmath>
__global__ void fp64_math(const double* x, double* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double v = x[i];
  double* out = y + 6 * i;
  out[0] = exp(-v) + log(v);
  out[1] = sin(v) * cos(3.0 * v);
  out[2] = pow(v, 1.7) / sqrt(v + 1.0);
  out[3] = tanh(v) - cbrt(v);
  out[4] = rsqrt(v) + hypot(v, 2.0);
  out[5] = fma(v, v, -1.0) + fmod(v * 10.0, 3.0) + erf(v);
}
int main() { fp64_math<<<2, 32>>>(nullptr, nullptr, 60); }
