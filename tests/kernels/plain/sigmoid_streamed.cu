#include <cublas_v2.h>
static cublasHandle_t handle;
// Written for nvcc alone: names that it includes by itself, a launch in a macro, the template's default, two conditions
// for leaving, half arguments negated, loads and stores past the caches.
template <const uint THREADS = 128, typename T = __half>
__global__ void sigmoid_streamed(const T* x, T* y, short low, ulong rows, uint columns) {
  const uint row = blockIdx.y, column = blockIdx.x * THREADS + threadIdx.x;
  if (row >= rows && column >= columns) return;
  if (row >= rows || column >= columns) return;
  const float value = 1.0f / (1.0f + expf(-__half2float(__ldcs(x + row * columns + column))));
  __stcs(y + row * columns + column, T(std::max(float(low), std::min(value, INFINITY))));
}
#define RUN(T)                                                                                     \
  sigmoid_streamed<128, T><<<dim3((columns + 128 - 1) / 128, rows), 128>>>(x, y, short(0), rows, columns);
void run(const __half* x, __half* y, ulong rows, uint columns) {
  cublasCreate(&handle);
  RUN(__half)
}
