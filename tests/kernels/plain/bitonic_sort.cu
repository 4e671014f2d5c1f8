template <class T> __device__ inline void order(T& a, T& b, bool up) {
  if ((a > b) == up) {
    T t = a;
    a = b;
    b = t;
  }
}
template <class T, int N>
__global__ void bitonic_sort(T* data, int rows) {
  __shared__ T s[N];
  T* row = data + blockIdx.x * N;
  for (int i = threadIdx.x; i < N; i += blockDim.x) s[i] = row[i];
  for (int k = 2; k <= N; k <<= 1)
    for (int j = k >> 1; j > 0; j >>= 1) {
      __syncthreads();
      for (int i = threadIdx.x; i < N; i += blockDim.x)
        if ((i ^ j) > i) order(s[i], s[i ^ j], (i & k) == 0);
    }
  __syncthreads();
  for (int i = threadIdx.x; i < N; i += blockDim.x) row[i] = s[i];
}
int main() { bitonic_sort<float, 256><<<3, 128>>>(nullptr, 3); }
