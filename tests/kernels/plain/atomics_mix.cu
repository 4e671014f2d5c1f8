__global__ void atomics_mix(const int* x, int* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(&sums[0], x[i]);
  atomicMax(&sums[1], x[i]);
  atomicMin(&sums[2], x[i]);
  atomicOr(&sums[3], x[i]);
  atomicXor(&sums[4], x[i]);
  int seen = sums[5], expected;
  do {
    expected = seen;
    seen = atomicCAS(&sums[5], expected, expected + x[i] % 3);
  } while (seen != expected);
  atomicInc((unsigned*)&sums[6], 99u);
  atomicSub(&sums[7], 1);
}
int main() { const int n = 300; atomics_mix<<<(n + 63) / 64, 64>>>(nullptr, nullptr, n); }
