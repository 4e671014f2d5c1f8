#include <cassert>
#include <cstdio>

#ifndef TILE
#define TILE 16
#endif

__global__ void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a[TILE][TILE], b[TILE][TILE];
  const int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.f;
  for (int k = 0; k < K; k += TILE) {
    a[threadIdx.y][threadIdx.x] = row < M && k + threadIdx.x < K ? A[row * K + k + threadIdx.x] : 0.f;
    b[threadIdx.y][threadIdx.x] = col < N && k + threadIdx.y < K ? B[(k + threadIdx.y) * N + col] : 0.f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; ++i) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

int main() {
  const int M = 50, N = 70, K = 33;
  float *A, *B, *C;
  cudaMalloc(&A, M * K * 4), cudaMalloc(&B, K * N * 4), cudaMalloc(&C, M * N * 4);
  dim3 threads(TILE, TILE);
  dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  gemm_tiled<<<blocks, threads>>>(A, B, C, M, N, K);
  assert(cudaDeviceSynchronize() == cudaSuccess);
}
