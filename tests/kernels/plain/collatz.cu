__global__ void collatz(int* steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long v = i + 1;
  int count = 0;
  for (; v != 1; ++count) v = v & 1 ? 3 * v + 1 : v >> 1;
  steps[i] = count;
}
int main() { const int n = 300; collatz<<<(n + 95) / 96, 96>>>(nullptr, n); }
