#include <cmath>
__global__ void rope(const float* x, float* y, int positions, int dim) {
  const int p = blockIdx.x, pairs = dim / 2;
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    const float angle = p * powf(10000.f, -2.f * i / dim), c = cosf(angle), s = sinf(angle);
    const float a = x[p * dim + i], b = x[p * dim + i + pairs];
    y[p * dim + i] = a * c - b * s;
    y[p * dim + i + pairs] = a * s + b * c;
  }
}
int main() { int positions = 12, dim = 64; rope<<<positions, 32>>>(nullptr, nullptr, positions, dim); }
