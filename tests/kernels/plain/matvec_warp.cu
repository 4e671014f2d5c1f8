// A warp a row, float4 loads, butterfly sum.
#include <cstdint>

template <int WARPS>
__global__ void matvec_warp(const float4* A, const float4* B, float* C, int M, int K4) {
  const int row = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= M) return;
  float sum = 0.f;
  for (int k = lane; k < K4; k += 32) {
    const float4 a = A[row * K4 + k], b = B[k];
    sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  }
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
  if (lane == 0) C[row] = sum;
}

void run(const float4* A, const float4* B, float* C, int M, int K4) { matvec_warp<4><<<(M + 3) / 4, 128>>>(A, B, C, M, K4); }
