// A small, right attention kernel, and seven ways to break it: MUTATION picks one, 0 none. The checker must pass 0 and
// refuse the others on every problem of expected.json.
//
// One warp a query row, a lane a key; scores in dynamic shared memory. Grid (seq_q, heads, batch), 32 threads.
#include <cuda_fp16.h>

#ifndef MUTATION
#define MUTATION 0
#endif
#define NONE 0
#define DROPPED_LAST_KEY 1
#define WRONG_SCALE 2
#define NO_MAX_SUBTRACTION 3
#define STALE_OUTPUT 4
#define NAN_IN_ONE_ROW 5
#define SWAPPED_HEADS 6
#define CAUSAL_OFF_BY_ONE 7

__device__ __forceinline__ int visible_keys(int row, int seq_q, int seq_k) {
  const int slack = MUTATION == CAUSAL_OFF_BY_ONE ? 1 : 0;
#if CAUSAL == 1
  return min(row + 1 + slack, seq_k);
#elif CAUSAL == 2
  return max(0, min(row + 1 + slack + seq_k - seq_q, seq_k));
#else
  return MUTATION == DROPPED_LAST_KEY ? seq_k - 1 : seq_k;
#endif
}

extern "C" __global__ void attention_mutant(const half* q, const half* k, const half* v, half* o, float scale, int batch,
                                            int heads, int seq_q, int seq_k) {
  extern __shared__ float scores[];  // [seq_k]
  const int row = blockIdx.x, lane = threadIdx.x;
  const size_t own = (size_t)blockIdx.z * heads + blockIdx.y;
  const size_t of_query = MUTATION == SWAPPED_HEADS ? (size_t)blockIdx.z * heads + (blockIdx.y + 1 < heads ? blockIdx.y + 1 : 0) : own;
  const half* q_row = q + (of_query * seq_q + row) * HEAD_DIM;
  const half* k_head = k + own * seq_k * HEAD_DIM;
  const half* v_head = v + own * seq_k * HEAD_DIM;
  half* o_row = o + (own * seq_q + row) * HEAD_DIM;
  const int keys = visible_keys(row, seq_q, seq_k);
  const float used_scale = MUTATION == WRONG_SCALE ? scale * 1.05f : scale;
  if (MUTATION == STALE_OUTPUT && row % 64 == 63) return;

  float row_max = __int_as_float(0xff800000);
  for (int key = lane; key < keys; key += 32) {
    float dot = 0.0f;
    for (int d = 0; d < HEAD_DIM; ++d) dot += float(q_row[d]) * float(k_head[(size_t)key * HEAD_DIM + d]);
    scores[key] = dot * used_scale;
    row_max = fmaxf(row_max, dot * used_scale);
  }
  for (int offset = 16; offset > 0; offset /= 2) row_max = fmaxf(row_max, __shfl_xor_sync(0xffffffffu, row_max, offset));
  const float base = MUTATION == NO_MAX_SUBTRACTION ? 0.0f : row_max;
  float row_sum = 0.0f;
  for (int key = lane; key < keys; key += 32) {
    scores[key] = exp2f((scores[key] - base) * 1.4426950408889634f);
    row_sum += scores[key];
  }
  for (int offset = 16; offset > 0; offset /= 2) row_sum += __shfl_xor_sync(0xffffffffu, row_sum, offset);
  __syncwarp();
  for (int d = lane; d < HEAD_DIM; d += 32) {
    float sum = 0.0f;
    for (int key = 0; key < keys; ++key) sum += scores[key] * float(v_head[(size_t)key * HEAD_DIM + d]);
    float value = keys > 0 ? sum / row_sum : 0.0f;
    if (MUTATION == NAN_IN_ONE_ROW && row == seq_q / 2 && blockIdx.y == 0 && d == 5) value = __int_as_float(0x7fffffff);
    o_row[d] = __float2half(value);
  }
}
