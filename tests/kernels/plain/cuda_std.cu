#include <cuda/std/array>
#include <cuda/std/tuple>
#include <cuda/atomic>
__device__ cuda::std::tuple<int, int> both(int a, int b) { return {a / b, a % b}; }
__global__ void cuda_std(const int* x, int* y, int* total, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  cuda::std::array<int, 4> powers{1, 10, 100, 1000};
  const auto [quotient, rest] = both(x[i], 7);
  y[i] = quotient * powers[rest % 4] + rest;
  cuda::atomic_ref<int, cuda::thread_scope_device> all(*total);
  all.fetch_add(rest, cuda::std::memory_order_relaxed);
}
int main() { cuda_std<<<3, 64>>>(nullptr, nullptr, nullptr, 150); }
