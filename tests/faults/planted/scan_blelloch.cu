// Exclusive scan of 512 values a block, up and down the tree.
#include <cuda_runtime.h>

#define N 512

__global__ void scan_blelloch(const float* in, float* out) {
  __shared__ float tree[N];
  const int t = threadIdx.x;
  const float* from = in + blockIdx.x * N;
  tree[2 * t] = from[2 * t];  //@even
  tree[2 * t + 1] = from[2 * t + 1];  //@odd
  int stride = 1;
  for (int d = N / 2; d > 0; d /= 2) {
    __syncthreads();  //@up
    if (t < d) tree[stride * (2 * t + 2) - 1] += tree[stride * (2 * t + 1) - 1];  //@climb
    stride *= 2;
  }
  if (t == 0) tree[N - 1] = 0.0f;  //@root
  for (int d = 1; d < N; d *= 2) {
    stride /= 2;
    __syncthreads();  //@down
    if (t < d) {
      const int a = stride * (2 * t + 1) - 1, b = stride * (2 * t + 2) - 1;
      const float left = tree[a];  //@left
      tree[a] = tree[b];  //@swap
      tree[b] += left;  //@sum
    }
  }
  __syncthreads();  //@done
  out[blockIdx.x * N + 2 * t] = tree[2 * t];  //@even_out
  out[blockIdx.x * N + 2 * t + 1] = tree[2 * t + 1];  //@odd_out
}

int main() {
  const int blocks = 12;
  float *in, *out;
  cudaMalloc(&in, blocks * N * sizeof(float));
  cudaMalloc(&out, blocks * N * sizeof(float));
  scan_blelloch<<<blocks, N / 2>>>(in, out);
}
