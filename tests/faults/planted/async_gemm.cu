// A product with a three-stage cp.async pipeline in inline PTX, 16-byte copies.
#include <cuda_runtime.h>

#define BM 32
#define BN 32
#define BK 16
#define STAGES 3

__device__ __forceinline__ void copy16(void* to, const void* from) {
  const unsigned int at = static_cast<unsigned int>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(at), "l"(from));  //@cp
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;\n"); }
template <int N>
__device__ __forceinline__ void await() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(N));  //@group
}

__global__ void async_gemm(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ __align__(16) float a[STAGES][BM][BK];
  __shared__ __align__(16) float b[STAGES][BK][BN];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16;
  const int steps = K / BK;
  auto load = [&](int step) {
    const int s = step % STAGES;
    if (t < 128)  //@turn
      copy16(&a[s][t / 4][t % 4 * 4], &A[(blockIdx.y * BM + t / 4) * K + step * BK + t % 4 * 4]);  //@load_a
    else
      copy16(&b[s][(t - 128) / 8][t % 8 * 4], &B[(step * BK + (t - 128) / 8) * N + blockIdx.x * BN + t % 8 * 4]);  //@load_b
  };
  for (int s = 0; s < STAGES - 1; ++s) {
    load(s);  //@prologue
    commit();
  }
  float c[2][2] = {};
  for (int step = 0; step < steps; ++step) {
    await<STAGES - 2>();  //@wait
    __syncthreads();  //@arrived
    if (step + STAGES - 1 < steps) load(step + STAGES - 1);  //@next
    commit();
    const int s = step % STAGES;
    for (int k = 0; k < BK; ++k)
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) c[i][j] += a[s][ty * 2 + i][k] * b[s][k][tx * 2 + j];  //@use
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      C[(blockIdx.y * BM + ty * 2 + i) * N + blockIdx.x * BN + tx * 2 + j] = c[i][j];  //@store
}

int main() {
  const int M = 64, N = 96, K = 128;
  float *A, *B, *C;
  cudaMalloc(&A, M * K * sizeof(float));
  cudaMalloc(&B, K * N * sizeof(float));
  cudaMalloc(&C, M * N * sizeof(float));
  async_gemm<<<dim3(N / BN, M / BM), 256>>>(A, B, C, M, N, K);
}
