#include <type_traits>
#include <utility>
template <class... Ts> constexpr int total_size = (0 + ... + int(sizeof(Ts)));
constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
template <class T, class... Ts> __device__ T sum_of(T first, Ts... rest) {
  if constexpr (sizeof...(rest) == 0) return first;
  else return first + sum_of(rest...);
}
template <int I> struct Polynomial {
  __device__ static float at(float x) { return I + x * Polynomial<I - 1>::at(x); }
};
template <> struct Polynomial<0> { __device__ static float at(float) { return 1.f; } };
template <typename T, typename = std::enable_if_t<std::is_floating_point_v<T>>>
__global__ void variadic(const T* x, T* y, int n) {
  static_assert(total_size<float, double> == 12 && ceil_div(7, 2) == 4, "");
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sum_of(x[i], T(1), T(2)) + Polynomial<3>::at(x[i]);
}
int main() { const int n = 128; variadic<float><<<ceil_div(n, 64), 64>>>(nullptr, nullptr, n); }
