// Token and position embeddings, added; tokens choose the rows.
#include <cuda_runtime.h>

__global__ void embedding_sum(const float* token_rows, const float* position_rows, float* out, int T, int C) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= T * C) return;  //@guard
  const int t = i / C, c = i % C;
  const int token = static_cast<int>(t * 2654435761LL % 97);  //@token
  out[i] = token_rows[token * C + c] + position_rows[t * C + c];  //@store
}

int main() {
  const int T = 201, C = 64, V = 97;
  float *token_rows, *position_rows, *out;
  cudaMalloc(&token_rows, V * C * sizeof(float));
  cudaMalloc(&position_rows, T * C * sizeof(float));
  cudaMalloc(&out, T * C * sizeof(float));
  embedding_sum<<<(T * C + 255) / 256, 256>>>(token_rows, position_rows, out, T, C);
}
