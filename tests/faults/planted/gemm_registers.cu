// A 64 x 64 block of C, 4 x 4 results a thread, vector loads into shared memory.
#include <cuda_runtime.h>

constexpr int BM = 64, BN = 64, BK = 8;

__global__ void gemm_registers(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a_tile[BK][BM];
  __shared__ float b_tile[BK][BN];
  const int tid = threadIdx.x;
  const int ty = tid / 16, tx = tid % 16;
  const int a_row = tid / 2, a_col = tid % 2 * 4;
  const int b_row = tid / 16, b_col = tid % 16 * 4;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += BK) {
    if (tid < 128) {
      const float4 a = *reinterpret_cast<const float4*>(&A[(blockIdx.y * BM + a_row) * K + k0 + a_col]);  //@load_a
      a_tile[a_col][a_row] = a.x;  //@fill_x
      a_tile[a_col + 1][a_row] = a.y;  //@fill_y
      a_tile[a_col + 2][a_row] = a.z;  //@fill_z
      a_tile[a_col + 3][a_row] = a.w;  //@fill_w
    } else {
      const int r = b_row - 8;
      const float4 b = *reinterpret_cast<const float4*>(&B[(k0 + r) * N + blockIdx.x * BN + b_col]);  //@load_b
      *reinterpret_cast<float4*>(&b_tile[r][b_col]) = b;  //@fill_b
    }
    __syncthreads();  //@loaded
    for (int k = 0; k < BK; ++k) {
      float a[4], b[4];
      for (int i = 0; i < 4; ++i) a[i] = a_tile[k][ty * 4 + i];  //@read_a
      for (int j = 0; j < 4; ++j) b[j] = b_tile[k][tx * 4 + j];  //@read_b
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += a[i] * b[j];
    }
    __syncthreads();  //@used
  }
  for (int i = 0; i < 4; ++i) {
    float4 v = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
    *reinterpret_cast<float4*>(&C[(blockIdx.y * BM + ty * 4 + i) * N + blockIdx.x * BN + tx * 4]) = v;  //@store
  }
}

int main() {
  const int M = 128, N = 192, K = 64;
  float *A, *B, *C;
  cudaMalloc(&A, M * K * sizeof(float));
  cudaMalloc(&B, K * N * sizeof(float));
  cudaMalloc(&C, M * N * sizeof(float));
  dim3 grid(N / BN, M / BM);
  gemm_registers<<<grid, 256>>>(A, B, C, M, N, K);
}
