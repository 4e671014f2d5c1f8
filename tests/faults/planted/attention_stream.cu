// Attention with keys and values in tiles of 32 and an online softmax; a thread owns a query row.
#include <cuda_runtime.h>

#define D 32
#define KEYS 32

__global__ void attention_stream(const float* q, const float* k, const float* v, float* o, int n, float scale) {
  __shared__ float ks[KEYS][D];
  __shared__ float vs[KEYS][D];
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int base = blockIdx.y * n;
  float query[D], acc[D];
  for (int c = 0; c < D; ++c) {
    query[c] = row < n ? q[(base + row) * D + c] : 0.0f;  //@query
    acc[c] = 0.0f;
  }
  float m = -INFINITY, l = 0.0f;
  for (int first = 0; first < n; first += KEYS) {
    for (int i = threadIdx.x; i < KEYS * D; i += blockDim.x) {
      const int key = first + i / D;
      ks[i / D][i % D] = key < n ? k[(base + key) * D + i % D] : 0.0f;  //@load_k
      vs[i / D][i % D] = key < n ? v[(base + key) * D + i % D] : 0.0f;  //@load_v
    }
    __syncthreads();  //@loaded
    for (int j = 0; j < KEYS && first + j < n; ++j) {  //@keys
      float s = 0.0f;
      for (int c = 0; c < D; ++c) s += query[c] * ks[j][c];  //@dot
      s *= scale;
      const float bigger = fmaxf(m, s);
      const float old = __expf(m - bigger), p = __expf(s - bigger);
      l = l * old + p;
      for (int c = 0; c < D; ++c) acc[c] = acc[c] * old + p * vs[j][c];  //@weigh
      m = bigger;
    }
    __syncthreads();  //@used
  }
  if (row >= n) return;  //@guard
  for (int c = 0; c < D; ++c) o[(base + row) * D + c] = acc[c] / l;  //@store
}

int main() {
  const int heads = 2, n = 100;
  float *q, *k, *v, *o;
  cudaMalloc(&q, heads * n * D * sizeof(float));
  cudaMalloc(&k, heads * n * D * sizeof(float));
  cudaMalloc(&v, heads * n * D * sizeof(float));
  cudaMalloc(&o, heads * n * D * sizeof(float));
  attention_stream<<<dim3((n + 63) / 64, heads), 64>>>(q, k, v, o, n, 0.17677669f);
}
