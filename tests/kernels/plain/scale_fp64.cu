#include <cstdlib>

__global__ void __launch_bounds__(64) scale_fp64(double factor, const double* x, double* y, unsigned n) {
  const unsigned i = blockIdx.x * 64u + threadIdx.x;
  if (i < n) y[i] = factor * sqrt(x[i] * x[i]) / 3.0;
}
