__global__ void packed_bytes(const unsigned* a, const unsigned* b, unsigned* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  c[3 * i] = __vadd4(a[i], b[i]);
  c[3 * i + 1] = __vmaxu2(a[i], b[i]) ^ __vavgu4(a[i], b[i]);
  c[3 * i + 2] = __vcmpgtu4(a[i], b[i]) + __vabsdiffu4(a[i], b[i]);
}
int main() { packed_bytes<<<2, 64>>>(nullptr, nullptr, nullptr, 100); }
