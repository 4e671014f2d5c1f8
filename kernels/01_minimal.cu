// Rung 1: minimal. One query row a CTA, and nothing kept but its scores.
//
// What it does: a CTA takes one row of Q. Its threads share out the keys, compute whole dot products from global memory
// and leave the scores in shared memory. The CTA agrees on the maximum and the sum. Then the threads share out the
// columns of O and walk V from top to bottom.
//
// What to see: it is right, and it is slow. Every CTA reads all of K and V again, so a K/V row is fetched seq_q times.
// In Q·K^T neighbouring lanes read neighbouring rows, 2·HEAD_DIM bytes apart, so each lane's 2-byte load is a sector of
// its own. With HEAD_DIM 64, half of the 128 threads have no column of O to compute. Rung 2 answers the first two with
// tiles in shared memory.
//
// Times, us, reported for an L4 at B1 H8 S512 D64 (assets/reported/l4_reports.json):
//   minimal    2,870
//
// Times, us, hot, measured on an H200, at its best config (bench/results/ladder_h200.json):
//              B1 H8 S512 D64    B32 H8 S512 D64
//   minimal               572             17,647
//
// Map, in reading order, with the knobs that change each piece:
//   Sizes        constants
//   Mask         visible_keys(): the keys that a row sees
//   Reduction    cta_reduce(): a maximum or a sum over the CTA      THREADS
//   Kernel       attention_minimal(): scores, softmax, output       THREADS
//
// Layout: q, o are [batch][heads][seq_q][HEAD_DIM], k, v are [batch][heads][seq_k][HEAD_DIM], row-major.
// Grid (seq_q, heads, batch), THREADS threads, 4·seq_k bytes of dynamic shared memory.
#include <cuda_fp16.h>

// The knobs' and the problem's values come as macros; these are for compiling the file by hand.
#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif
#ifndef CAUSAL  // 0 none, 1 top_left, 2 bottom_right
#define CAUSAL 0
#endif
#ifndef ATTN_T
#define ATTN_T half
#endif
#ifndef THREADS
#define THREADS 128
#endif

namespace {

// ---- Sizes ----------------------------------------------------------------------------------------------------------

constexpr int kWarps = THREADS / 32;
constexpr unsigned kFullWarp = 0xffffffffu;
constexpr float kLog2e = 1.4426950408889634f;

// ---- Mask -----------------------------------------------------------------------------------------------------------

__device__ __forceinline__ float minus_infinity() { return __int_as_float(0xff800000); }

// Largest key, exclusive, that a query row may see.
__device__ __forceinline__ int visible_keys(int row, int seq_q, int seq_k) {
  if constexpr (CAUSAL == 1) return min(row + 1, seq_k);
  if constexpr (CAUSAL == 2) return max(0, min(row + 1 + seq_k - seq_q, seq_k));
  return seq_k;
}

// ---- Reduction ------------------------------------------------------------------------------------------------------

// The CTA's maximum or sum of `value`, to every thread. `scratch` holds one float a warp and may be reused afterwards.
template <bool kMaximum>
__device__ __forceinline__ float cta_reduce(float value, float* scratch) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(kFullWarp, value, offset);
    value = kMaximum ? fmaxf(value, other) : value + other;
  }
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  value = scratch[0];
  for (int warp = 1; warp < kWarps; ++warp) value = kMaximum ? fmaxf(value, scratch[warp]) : value + scratch[warp];
  __syncthreads();
  return value;
}

}  // namespace

// ---- Kernel ---------------------------------------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(THREADS)
    attention_minimal(const ATTN_T* __restrict__ q, const ATTN_T* __restrict__ k, const ATTN_T* __restrict__ v,
                      ATTN_T* __restrict__ o, float scale, int batch, int heads, int seq_q, int seq_k) {
  extern __shared__ float scores[];  // [seq_k]
  __shared__ float warp_scratch[kWarps];
  const int row = blockIdx.x;  // of this head's seq_q
  const size_t head = (size_t)blockIdx.z * heads + blockIdx.y;
  const ATTN_T* q_row = q + (head * seq_q + row) * HEAD_DIM;
  const ATTN_T* k_head = k + head * seq_k * HEAD_DIM;
  const ATTN_T* v_head = v + head * seq_k * HEAD_DIM;
  const int keys = visible_keys(row, seq_q, seq_k);

  // Scores: whole dot products, the keys shared out over the threads.
  float row_max = minus_infinity();
  for (int key = threadIdx.x; key < keys; key += THREADS) {
    float dot = 0.0f;
    for (int d = 0; d < HEAD_DIM; ++d) dot += float(q_row[d]) * float(k_head[(size_t)key * HEAD_DIM + d]);
    scores[key] = dot * scale;
    row_max = fmaxf(row_max, dot * scale);
  }
  row_max = cta_reduce<true>(row_max, warp_scratch);

  // Softmax.
  float row_sum = 0.0f;
  for (int key = threadIdx.x; key < keys; key += THREADS) {  // a thread's own scores: no barrier needed
    const float p = exp2f((scores[key] - row_max) * kLog2e);
    scores[key] = p;
    row_sum += p;
  }
  row_sum = cta_reduce<false>(row_sum, warp_scratch);  // its barriers publish every score too

  // Output: the columns shared out over the threads.
  const float inverse = keys > 0 ? 1.0f / row_sum : 0.0f;  // a row that sees no key is 0
  for (int d = threadIdx.x; d < HEAD_DIM; d += THREADS) {
    float sum = 0.0f;
    for (int key = 0; key < keys; ++key) sum += scores[key] * float(v_head[(size_t)key * HEAD_DIM + d]);
    o[(head * seq_q + row) * HEAD_DIM + d] = ATTN_T(sum * inverse);
  }
}
