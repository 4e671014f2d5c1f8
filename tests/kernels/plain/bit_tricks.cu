__global__ void bit_tricks(const unsigned* x, unsigned* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned v = x[i];
  y[4 * i] = __popc(v) + (__clz(v) << 8) + (__ffs(v) << 16);
  y[4 * i + 1] = __brev(v);
  y[4 * i + 2] = __byte_perm(v, ~v, 0x2513);
  y[4 * i + 3] = __umulhi(v, 0x9E3779B9u) + __sad(int(v >> 1), 12345, 7u);
}
int main() { const int n = 100; bit_tricks<<<2, 64>>>(nullptr, nullptr, n); }
