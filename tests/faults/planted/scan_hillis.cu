// Inclusive scan of each block's 256 values, Hillis and Steele, two buffers in turn.
#include <cuda_runtime.h>

__global__ void scan_hillis(const int* in, int* out, int n) {
  __shared__ int buffer[2][256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  int from = 0;
  buffer[0][t] = i < n ? in[i] : 0;  //@fill
  __syncthreads();  //@filled
  for (int d = 1; d < 256; d *= 2) {
    const int to = 1 - from;
    buffer[to][t] = buffer[from][t] + (t >= d ? buffer[from][t - d] : 0);  //@step
    __syncthreads();  //@stepped
    from = to;
  }
  if (i < n) out[i] = buffer[from][t];  //@store
}

int main() {
  const int n = 4000;
  int *in, *out;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  scan_hillis<<<(n + 255) / 256, 256>>>(in, out, n);
}
