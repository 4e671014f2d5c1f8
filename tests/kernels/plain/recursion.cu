__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__global__ void recursion(const int* in, int* out, int n) {
  const int i = threadIdx.x;
  if (i < n) out[i] = fibonacci(in[i]) + ackermann(in[i] % 3, i % 3);
}
int main() { recursion<<<1, 32>>>(nullptr, nullptr, 32); }
