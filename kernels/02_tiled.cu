// Rung 2: tiled. Online softmax over K/V tiles in shared memory, with the "light barrier".
//
// What changed: a CTA takes BLOCK_M query rows and walks the keys BLOCK_N at a time. Q, K and V tiles live in shared
// memory, so a K/V row is fetched once for BLOCK_M rows instead of once a row. Scores S and the output O are fp32 tiles
// in shared memory too, and a running maximum and sum a row make the softmax online.
//
// What it gained: the times below, against rung 1. It disappointed: a fused library kernel is many times faster. The
// reasons are kept on purpose; they are what the knobs show.
//   * One score row a thread: with BLOCK_M 32 a single warp computes every score while the others wait for it. More
//     warps speed up only the softmax and P·V.
//   * Tile rows are HEAD_DIM halves, a multiple of 128 bytes, so in the score loop all lanes read the same banks:
//     SWIZZLE_XOR 1 spreads them; 0 is how the kernel was published.
//   * The light barrier: below SYNC_POLICY 5 no CTA barrier stands between writing the scores and reading them for the
//     row maximum. A stale maximum only shifts the exponent, so the output often survives; it is still a race.
//   * A CTA barrier inside the row loop, where a warp's own is enough. When NUM_WARPS does not divide BLOCK_M the warps
//     pass it a different number of times and drift apart: the output is wrong (BLOCK_M 32, NUM_WARPS 6).
//   * P·V is in the row loop too, with a load of P and of V for every product: nothing is kept in registers.
//   * VEC_WIDTH 4 and 8 are the same code: every width from 4 up takes the 16-byte copy.
//   * S and O in fp32 make BLOCK_M 64 ask 57,376 bytes at HEAD_DIM 64, over the 48 KB that a kernel may declare
//     statically. There are two ways out: SHARED dynamic, or SO_TYPE f16, which asks 40,992 bytes and rounds every
//     score, probability and partial output to a half, so that the output's error grows.
//
// Times, us, reported for an L4 at B1 H8 S512 D64; m32_w8_v4 is BLOCK_M 32, NUM_WARPS 8
// (assets/reported/l4_reports.json):
//   minimal      2,870
//   m32_w8_v4      839
//
// Times, us, hot, measured on an H200, each rung at its best config (bench/results/ladder_h200.json):
//              B1 H8 S512 D64    B32 H8 S512 D64
//   minimal               572             17,647
//   tiled                 308              3,376
//   torch flash          10.1               68.7
//
// Map, in reading order, with the knobs that change each piece:
//   Sizes        threads, rows a warp, one copy's vector        BLOCK_M NUM_WARPS VEC_WIDTH
//   Tiles        Stored, q_chunk_at(), score_at(): what S and O hold, where an element of Q and S lies
//                SO_TYPE SWIZZLE_XOR
//   Load         load_tile(): global to shared memory           VEC_WIDTH
//   Mask         visible_keys(): the keys that a row sees
//   Reduction    reduce_row(): a row's maximum or sum           REDUCE_WARP
//   Kernel       attention_tiled(): load, scores, then softmax and output row by row; the epilogue
//                BLOCK_M BLOCK_N NUM_WARPS SYNC_POLICY SHARED
//
// Layout: q, o are [batch][heads][seq_q][HEAD_DIM], k, v are [batch][heads][seq_k][HEAD_DIM], row-major, 16-byte
// aligned. Grid (ceil(seq_q / BLOCK_M), heads, batch), 32·NUM_WARPS threads.
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
#ifndef BLOCK_M  // query rows a CTA
#define BLOCK_M 32
#endif
#ifndef BLOCK_N  // keys a tile
#define BLOCK_N 64
#endif
#ifndef NUM_WARPS
#define NUM_WARPS 4
#endif
#ifndef VEC_WIDTH  // halves a copy; every width from 4 up takes the 16-byte copy
#define VEC_WIDTH 4
#endif
#ifndef SYNC_POLICY  // 5: a CTA barrier after every phase; 2, 0: none between writing the scores and reading them
#define SYNC_POLICY 5
#endif
#ifndef SWIZZLE_XOR  // 1 permutes chunks of Q and S by the row, so that lanes of the score loop use different banks
#define SWIZZLE_XOR 0
#endif
#ifndef REDUCE_WARP  // 1: shuffles; 0: one lane reads the whole row
#define REDUCE_WARP 1
#endif
#ifndef SHARED  // 0 static, 1 dynamic
#define SHARED 0
#endif
#ifndef SO_TYPE  // of S and O in shared memory: 0 float, 1 half
#define SO_TYPE 0
#endif

#define UNROLL _Pragma("unroll")  // register arrays need it: their indices become constants

namespace {

// ---- Sizes ----------------------------------------------------------------------------------------------------------

constexpr int kThreads = 32 * NUM_WARPS;
constexpr int kRowsPerWarp = (BLOCK_M + NUM_WARPS - 1) / NUM_WARPS;  // the most that a warp owns
constexpr int kStates = (kRowsPerWarp + 31) / 32;                    // registers for running maxima: a lane holds a row
constexpr unsigned kFullWarp = 0xffffffffu;
constexpr float kLog2e = 1.4426950408889634f;

// One copy's worth of halves: 2, 4 or 16 bytes.
#if VEC_WIDTH >= 4
using Vector = uint4;
#elif VEC_WIDTH == 2
using Vector = unsigned int;
#else
using Vector = unsigned short;
#endif
constexpr int kVector = sizeof(Vector) / sizeof(ATTN_T);  // halves
constexpr int kChunk = 8;                                 // halves in 16 bytes, what the swizzle moves

// ---- Tiles ----------------------------------------------------------------------------------------------------------

// What the tiles of the scores and of the output hold. Sums are made in fp32 registers either way.
#if SO_TYPE == 1
using Stored = half;
#else
using Stored = float;
#endif

// Where the 16-byte chunk `chunk` of a Q row lies. Lanes of the score loop read one column of 32 rows: the swizzle
// permutes a row's chunks by the row's number, so that eight neighbouring rows use all 32 banks. K needs none, because
// all lanes read one address, nor does V, because lanes read neighbours.
__device__ __forceinline__ int q_chunk_at(int row, int chunk) {
  return row * HEAD_DIM + kChunk * (SWIZZLE_XOR ? chunk ^ (row & 7) : chunk);
}

// Where a score lies in the [BLOCK_M][BLOCK_N] tile. The score loop writes one column of 32 rows: the swizzle permutes
// a row's groups of four, so that P·V may still read four at once.
__device__ __forceinline__ int score_at(int row, int key) {
  return row * BLOCK_N + (SWIZZLE_XOR ? key ^ (4 * (row & 7)) : key);
}

// ---- Load -----------------------------------------------------------------------------------------------------------

// Copies kRows rows from row `first` of a [rows][HEAD_DIM] tensor into a tile; rows past the end are zeros.
template <int kRows, bool kOfQ>
__device__ __forceinline__ void load_tile(ATTN_T* tile, const ATTN_T* tensor, int first, int rows) {
  for (int i = threadIdx.x; i < kRows * HEAD_DIM / kVector; i += kThreads) {
    const int row = i * kVector / HEAD_DIM;
    const int column = i * kVector % HEAD_DIM;
    Vector value{};
    if (first + row < rows) {
      value = *reinterpret_cast<const Vector*>(tensor + (size_t)(first + row) * HEAD_DIM + column);
    }
    const int at = kOfQ && SWIZZLE_XOR ? q_chunk_at(row, column / kChunk) + column % kChunk : row * HEAD_DIM + column;
    *reinterpret_cast<Vector*>(tile + at) = value;
  }
}

// ---- Mask -----------------------------------------------------------------------------------------------------------

__device__ __forceinline__ float minus_infinity() { return __int_as_float(0xff800000); }

// Largest key, exclusive, that a query row may see.
__device__ __forceinline__ int visible_keys(int row, int seq_q, int seq_k) {
  if constexpr (CAUSAL == 1) return min(row + 1, seq_k);
  if constexpr (CAUSAL == 2) return max(0, min(row + 1 + seq_k - seq_q, seq_k));
  return seq_k;
}

// ---- Reduction ------------------------------------------------------------------------------------------------------

// A row's maximum or sum over its BLOCK_N scores, valid in lane 0. REDUCE_WARP 0: lane 0 reads them all.
template <bool kMaximum>
__device__ __forceinline__ float reduce_row(const Stored* S_tile, int row, int lane) {
  float result = kMaximum ? minus_infinity() : 0.0f;
  if constexpr (REDUCE_WARP) {
    for (int key = lane; key < BLOCK_N; key += 32) {
      const float s = float(S_tile[score_at(row, key)]);
      result = kMaximum ? fmaxf(result, s) : result + s;
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      const float other = __shfl_down_sync(kFullWarp, result, offset);
      result = kMaximum ? fmaxf(result, other) : result + other;
    }
  } else if (lane == 0) {
    for (int key = 0; key < BLOCK_N; ++key) {
      const float s = float(S_tile[score_at(row, key)]);
      result = kMaximum ? fmaxf(result, s) : result + s;
    }
  }
  return result;
}

}  // namespace

// ---- Kernel ---------------------------------------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(32 * NUM_WARPS)
    attention_tiled(const ATTN_T* __restrict__ q, const ATTN_T* __restrict__ k, const ATTN_T* __restrict__ v,
                    ATTN_T* __restrict__ o, float scale, int batch, int heads, int seq_q, int seq_k) {
#if SHARED == 0
  __shared__ __align__(16) ATTN_T Q_tile[BLOCK_M * HEAD_DIM];
  __shared__ __align__(16) ATTN_T K_tile[BLOCK_N * HEAD_DIM];
  __shared__ __align__(16) ATTN_T V_tile[BLOCK_N * HEAD_DIM];
  __shared__ __align__(16) Stored S_tile[BLOCK_M * BLOCK_N];   // scores, then probabilities
  __shared__ __align__(16) Stored O_tile[BLOCK_M * HEAD_DIM];  // not yet divided by the row's sum
  __shared__ float warp_max[NUM_WARPS];
  __shared__ float warp_sum[NUM_WARPS];
#else
  extern __shared__ __align__(16) unsigned char dynamic_shared[];
  ATTN_T* Q_tile = reinterpret_cast<ATTN_T*>(dynamic_shared);
  ATTN_T* K_tile = Q_tile + BLOCK_M * HEAD_DIM;
  ATTN_T* V_tile = K_tile + BLOCK_N * HEAD_DIM;
  Stored* S_tile = reinterpret_cast<Stored*>(V_tile + BLOCK_N * HEAD_DIM);
  Stored* O_tile = S_tile + BLOCK_M * BLOCK_N;
  float* warp_max = reinterpret_cast<float*>(O_tile + BLOCK_M * HEAD_DIM);
  float* warp_sum = warp_max + NUM_WARPS;
#endif
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int first_row = blockIdx.x * BLOCK_M;
  const size_t head = (size_t)blockIdx.z * heads + blockIdx.y;
  const ATTN_T* k_head = k + head * seq_k * HEAD_DIM;
  const ATTN_T* v_head = v + head * seq_k * HEAD_DIM;
  const int last_row = min(first_row + BLOCK_M, seq_q) - 1;
  const int keys = visible_keys(last_row, seq_q, seq_k);  // later keys are masked for every row of this CTA

  // Load Q; O and the running maxima and sums start empty.
  load_tile<BLOCK_M, true>(Q_tile, q + head * seq_q * HEAD_DIM, first_row, seq_q);
  for (int i = threadIdx.x; i < BLOCK_M * HEAD_DIM; i += kThreads) O_tile[i] = Stored(0.0f);
  float running_max[kStates];  // lane i: of the warp's row i
  float running_sum[kStates];
  UNROLL
  for (int state = 0; state < kStates; ++state) {
    running_max[state] = minus_infinity();
    running_sum[state] = 0.0f;
  }

  for (int first_key = 0; first_key < keys; first_key += BLOCK_N) {
    // Load K and V.
    load_tile<BLOCK_N, false>(K_tile, k_head, first_key, seq_k);
    load_tile<BLOCK_N, false>(V_tile, v_head, first_key, seq_k);
    __syncthreads();

    // Scores: one row a thread.
    for (int row = threadIdx.x; row < BLOCK_M; row += kThreads) {
      const int visible = visible_keys(first_row + row, seq_q, seq_k);
      for (int key = 0; key < BLOCK_N; ++key) {
        float dot = 0.0f;
        UNROLL
        for (int chunk = 0; chunk < HEAD_DIM / kChunk; ++chunk) {
          const ATTN_T* q_chunk = &Q_tile[q_chunk_at(row, chunk)];
          const ATTN_T* k_chunk = &K_tile[key * HEAD_DIM + chunk * kChunk];
          UNROLL
          for (int i = 0; i < kChunk; ++i) dot += float(q_chunk[i]) * float(k_chunk[i]);
        }
        S_tile[score_at(row, key)] = first_key + key < visible ? Stored(dot * scale) : Stored(minus_infinity());
      }
    }
    if constexpr (SYNC_POLICY == 5) __syncthreads();
    if constexpr (SYNC_POLICY == 2) __syncwarp();  // orders this warp's scores; the row maximum may read another's

    // Softmax and output: the rows go round the warps, and one lane of a warp keeps a row's running maximum and sum.
    UNROLL
    for (int state = 0; state < kStates; ++state) {
      for (int i = 0; i < min(32, kRowsPerWarp); ++i) {
        const int row = warp + (state * 32 + i) * NUM_WARPS;
        if (row >= BLOCK_M) break;
        const float tile_max = reduce_row<true>(S_tile, row, lane);
        if (lane == 0) warp_max[warp] = tile_max;
        __syncthreads();  // inside the row loop: every warp must come here the same number of times
        const float old_max = __shfl_sync(kFullWarp, running_max[state], i);
        const float new_max = fmaxf(old_max, warp_max[warp]);
        const float base = new_max == minus_infinity() ? 0.0f : new_max;  // all masked so far: exp(-inf - 0) = 0
        for (int key = lane; key < BLOCK_N; key += 32) {
          Stored* s = &S_tile[score_at(row, key)];
          *s = Stored(exp2f((float(*s) - base) * kLog2e));
        }
        __syncwarp();
        const float tile_sum = reduce_row<false>(S_tile, row, lane);
        if (lane == 0) warp_sum[warp] = tile_sum;
        __syncwarp();
        const float rescale = exp2f((old_max - base) * kLog2e);
        if (lane == i) {
          running_max[state] = new_max;
          running_sum[state] = running_sum[state] * rescale + warp_sum[warp];
        }
        // O = O·rescale + P·V of this row. A lane takes columns lane, lane + 32, … in turn and, for each, the keys in
        // turn: a load of P and one of V for every product.
        for (int d = lane; d < HEAD_DIM; d += 32) {
          float sum = 0.0f;
#pragma unroll 1
          for (int key = 0; key < BLOCK_N; ++key)
            sum += float(S_tile[score_at(row, key)]) * float(V_tile[key * HEAD_DIM + d]);
          O_tile[row * HEAD_DIM + d] = Stored(float(O_tile[row * HEAD_DIM + d]) * rescale + sum);
        }
      }
    }
    __syncthreads();  // the next tile overwrites K, V and S
  }

  // Epilogue: divides and stores; a row that saw no key is 0.
  UNROLL
  for (int state = 0; state < kStates; ++state) {
    for (int i = 0; i < min(32, kRowsPerWarp); ++i) {
      const int row = warp + (state * 32 + i) * NUM_WARPS;
      if (row >= BLOCK_M || first_row + row >= seq_q) break;
      const float total = __shfl_sync(kFullWarp, running_sum[state], i);
      const float inverse = visible_keys(first_row + row, seq_q, seq_k) > 0 ? 1.0f / total : 0.0f;
      ATTN_T* o_row = o + (head * seq_q + first_row + row) * HEAD_DIM;
      for (int d = lane; d < HEAD_DIM; d += 32) {
        o_row[d] = ATTN_T(float(O_tile[row * HEAD_DIM + d]) * inverse);
      }
    }
  }
}
