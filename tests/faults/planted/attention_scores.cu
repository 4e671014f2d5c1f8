// Scores of queries against keys: S = Q K^T / sqrt(d), tiles of 16 in shared memory.
#include <cuda_runtime.h>

#define TILE 16
#define D 64

__global__ void attention_scores(const float* Q, const float* K, float* S, int seq, float scale) {
  __shared__ float q[TILE][D + 1];
  __shared__ float k[TILE][D + 1];
  const int head = blockIdx.z;
  const int row = blockIdx.y * TILE, col = blockIdx.x * TILE;
  const int t = threadIdx.y * TILE + threadIdx.x;
  for (int i = t; i < TILE * D; i += TILE * TILE) {  //@loop
    const int r = i / D, c = i % D;
    q[r][c] = row + r < seq ? Q[(head * seq + row + r) * D + c] : 0.0f;  //@load_q
    k[r][c] = col + r < seq ? K[(head * seq + col + r) * D + c] : 0.0f;  //@load_k
  }
  __syncthreads();  //@loaded
  float dot = 0.0f;
  for (int c = 0; c < D; ++c) dot += q[threadIdx.y][c] * k[threadIdx.x][c];  //@dot
  const int i = row + threadIdx.y, j = col + threadIdx.x;
  if (i < seq && j < seq) S[(head * seq + i) * seq + j] = dot * scale;  //@store
}

int main() {
  const int heads = 2, seq = 70;
  float *Q, *K, *S;
  cudaMalloc(&Q, heads * seq * D * sizeof(float));
  cudaMalloc(&K, heads * seq * D * sizeof(float));
  cudaMalloc(&S, heads * seq * seq * sizeof(float));
  const int tiles = (seq + TILE - 1) / TILE;
  attention_scores<<<dim3(tiles, tiles, heads), dim3(TILE, TILE)>>>(Q, K, S, seq, 0.125f);
}
