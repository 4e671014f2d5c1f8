#include <cstring>
union Bits {
  float f;
  unsigned u;
  struct { unsigned mantissa : 23, exponent : 8, sign : 1; } part;
};
__global__ void union_bits(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Bits b;
  b.f = x[i];
  b.part.exponent += 2;
  b.part.sign ^= 1;
  Bits c;
  memcpy(&c, &b, sizeof c);
  y[i] = c.f;
}
int main() { const int n = 150; union_bits<<<(n + 31) / 32, 32>>>(nullptr, nullptr, n); }
