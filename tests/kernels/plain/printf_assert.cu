#include <assert.h>
#include <stdio.h>
__global__ void printf_assert(const int* x, int* y, int n) {
  const int i = threadIdx.x;
  assert(n > 0 && i < 1024);
  if (i < n) y[i] = x[i] * 2;
  if (i == 3) printf("thread %d of %d: %5.2f %s\n", i, n, x[i] * 0.5, "end");
}
int main() {
  printf_assert<<<1, 64>>>(nullptr, nullptr, 50);
  fprintf(stderr, "done\n");
}
