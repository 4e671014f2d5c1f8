// Loops left from their middle, returns inside them, a jump out of two: what divergence is made of.
__device__ __noinline__ int first_factor(int v) {
  for (int d = 2; d * d <= v; ++d) {
    if (v % d) continue;
    return d;
  }
  return v;
}
__global__ void tangled_flow(const int* x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = x[i], sum = 0, steps = 0;
  do {
    const int d = first_factor(v);
    sum += d;
    if (d == 7) break;
    v /= d;
    if (++steps > 4) goto out;
    while (v % 3 == 0) {
      v /= 3;
      sum += 1000;
      if (sum > 3000) goto out;
    }
  } while (v > 1);
  sum += 100000;
out:
  y[i] = sum + steps;
}
int main() { tangled_flow<<<4, 64>>>(nullptr, nullptr, 250); }
