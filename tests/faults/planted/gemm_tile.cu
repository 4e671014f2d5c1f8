// C = A * B with square tiles in shared memory; sizes need not be multiples of the tile.
#include <cuda_runtime.h>

#define TS 16

__global__ void gemm_tile(int M, int N, int K, const float* A, const float* B, float* C) {
  __shared__ float As[TS][TS];
  __shared__ float Bs[TS][TS];
  const int row = blockIdx.y * TS + threadIdx.y;
  const int col = blockIdx.x * TS + threadIdx.x;
  float acc = 0.0f;
  for (int k0 = 0; k0 < K; k0 += TS) {
    const int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
    As[threadIdx.y][threadIdx.x] = row < M && ka < K ? A[row * K + ka] : 0.0f;  //@load_a
    Bs[threadIdx.y][threadIdx.x] = kb < K && col < N ? B[kb * N + col] : 0.0f;  //@load_b
    __syncthreads();  //@loaded
    for (int k = 0; k < TS; ++k) {
      acc += As[threadIdx.y][k] * Bs[k][threadIdx.x];  //@product
    }
    __syncthreads();  //@used
  }
  if (row < M && col < N) C[row * N + col] = acc;  //@store
}

int main() {
  const int M = 70, N = 90, K = 50;
  float *A, *B, *C;
  cudaMalloc(&A, M * K * sizeof(float));
  cudaMalloc(&B, K * N * sizeof(float));
  cudaMalloc(&C, M * N * sizeof(float));
  dim3 threads(TS, TS);
  dim3 blocks((N + TS - 1) / TS, (M + TS - 1) / TS);
  gemm_tile<<<blocks, threads>>>(M, N, K, A, B, C);
  cudaDeviceSynchronize();
}
