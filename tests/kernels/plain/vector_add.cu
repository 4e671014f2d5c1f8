// A template over the element type, instantiated by its launch.
#include <iostream>
#include <vector>

template <typename T>
__global__ void vector_add(const T* a, const T* b, T* c, size_t n) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) c[i] = a[i] + b[i];
}

template <typename T>
void run(std::vector<T>& a, const std::vector<T>& b) {
  T *da, *db, *dc;
  cudaMalloc((void**)&da, a.size() * sizeof(T));
  cudaMalloc((void**)&db, b.size() * sizeof(T));
  cudaMalloc((void**)&dc, a.size() * sizeof(T));
  vector_add<double><<<4, 96>>>(da, db, dc, a.size());
}

int main() {
  std::vector<double> a(1000, 1.0), b(1000, 2.0);
  run(a, b);
  std::cout << a[0] << std::endl;
}
