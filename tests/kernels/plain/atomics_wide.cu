#include <cuda_fp16.h>
__global__ void atomics_wide(const double* x, double* sum, unsigned long long* words, __half2* pair, int* last, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(sum, x[i]);
  atomicAdd(&words[0], (unsigned long long)i << 20);
  atomicMax(&words[1], (unsigned long long)i * 3);
  unsigned long long old = words[2], expected;
  do {
    expected = old;
    old = atomicCAS(&words[2], expected, expected + 7ull);
  } while (old != expected);
  atomicAnd(&words[3], ~(1ull << (i % 60)));
  atomicAdd(pair, __floats2half2_rn(1.f, i % 2 ? 0.5f : 0.f));
  if (atomicExch(last, i + 1) > n) sum[1] = 1;
}
int main() { atomics_wide<<<2, 50>>>(nullptr, nullptr, nullptr, nullptr, nullptr, 100); }
