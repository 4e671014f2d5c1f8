// One query row a thread, with every loop rolled: a warp makes 130 jumps for each key.
#include <cuda_fp16.h>

extern "C" __global__ void __launch_bounds__(64)
    attention_rolled(const ATTN_T* __restrict__ q, const ATTN_T* __restrict__ k, const ATTN_T* __restrict__ v,
                     ATTN_T* __restrict__ o, float scale, int batch, int heads, int seq_q, int seq_k) {
  __shared__ float sums[HEAD_DIM][64];
  const int row = blockIdx.x * 64 + threadIdx.x;
  const size_t head = (size_t)blockIdx.z * heads + blockIdx.y;
  if (row >= seq_q) return;
  const ATTN_T* q_row = q + (head * seq_q + row) * HEAD_DIM;
  const ATTN_T* k_head = k + head * seq_k * HEAD_DIM;
  const ATTN_T* v_head = v + head * seq_k * HEAD_DIM;
#pragma unroll 1
  for (int d = 0; d < HEAD_DIM; ++d) sums[d][threadIdx.x] = 0.0f;
  float row_max = -1e30f, row_sum = 0.0f;
#pragma unroll 1
  for (int key = 0; key < seq_k; ++key) {
    float dot = 0.0f;
#pragma unroll 1
    for (int d = 0; d < HEAD_DIM; ++d) dot += float(q_row[d]) * float(k_head[(size_t)key * HEAD_DIM + d]);
    const float now = fmaxf(row_max, dot * scale);
    const float kept = __expf(row_max - now), p = __expf(dot * scale - now);
    row_max = now;
    row_sum = row_sum * kept + p;
#pragma unroll 1
    for (int d = 0; d < HEAD_DIM; ++d)
      sums[d][threadIdx.x] = sums[d][threadIdx.x] * kept + p * float(v_head[(size_t)key * HEAD_DIM + d]);
  }
#pragma unroll 1
  for (int d = 0; d < HEAD_DIM; ++d) o[(head * seq_q + row) * HEAD_DIM + d] = ATTN_T(sums[d][threadIdx.x] / row_sum);
}
