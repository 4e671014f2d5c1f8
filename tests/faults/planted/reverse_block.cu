// Reverses each block of an array through dynamic shared memory.
#include <cuda_runtime.h>

__global__ void reverse_block(const int* in, int* out, int n) {
  extern __shared__ int s[];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (i < n) s[t] = in[i];  //@fill
  __syncthreads();  //@filled
  const int last = min(static_cast<int>(blockDim.x), n - static_cast<int>(blockIdx.x * blockDim.x)) - 1;
  if (i < n) out[i] = s[last - t];  //@store
}

int main() {
  const int n = 1500, threads = 192;
  int *in, *out;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  reverse_block<<<(n + threads - 1) / threads, threads, threads * sizeof(int)>>>(in, out, n);
}
