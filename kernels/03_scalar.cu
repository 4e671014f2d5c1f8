// Rung 3: scalar. What is used twice lives in registers, and no warp works while the others wait.
//
// What changed: the scores, the probabilities' sums and O live in registers. A thread owns ROWS query rows by
// BLOCK_N / columns keys of the scores, and the same rows by HEAD_DIM / columns columns of O, so that one 16-byte load
// from shared memory feeds 4·ROWS or more multiply-adds instead of one or two. A row's threads are lanes of one warp:
// its maximum is a few shuffles, its probabilities pass from lane to lane through a part of shared memory that no other
// warp reads, and the CTA has two barriers a tile, where K and V are replaced, and none in the row loop.
//   * Tiles are fp32: a half is converted once, when it is fetched, not at every use.
//   * Tile rows are padded by 4 floats, and lanes are numbered so that neighbours (i, i^1) share a key and (i, i^2) a
//     row: a 16-byte load then takes two wavefronts, the least there is.
//
// What it gained: the times below. What it cost: fp32 tiles are twice the bytes, and the multiply-adds still run on the
// FP32 pipe, 32 an instruction where the Tensor Core rungs do 4096. The reports' own steps this way (a kernel
// specialised for S=512, a vectorised one) widened the copies, which were not the limit.
//
// Times, us, hot, measured on an H200, each rung at its best config (bench/results/ladder_h200.json):
//             B1 H8 S512 D64    B32 H8 S512 D64    B4 H16 S4096 D64
//   tiled                308              3,376             101,929
//   scalar              26.6                462               7,632
//
// Map, in reading order, with the knobs that change each piece:
//   Sizes      a thread's rows, keys and columns; strides                 BLOCK_M BLOCK_N NUM_WARPS ROWS
//   Mask       visible_keys(): the keys that a row sees
//   Load       fetch(), put(): global memory to fp32 tiles                VEC_WIDTH
//              Fetched: a K/V tile on its way through registers           STAGES
//   Products   dot4(), part_of(): four elements at a time
//   Rows       row_max(), row_sum(): over the lanes that share a row      ROWS
//   Kernel     attention_scalar(): load, scores, softmax, output for each key tile, then the epilogue    STAGES
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
#ifndef ROWS  // query rows a thread
#define ROWS 4
#endif
#ifndef STAGES  // 2 fetches the next K/V tile while this one is computed; 1 waits for it
#define STAGES 2
#endif
#ifndef VEC_WIDTH  // halves a fetch; 8 make two 16-byte stores 32 bytes apart between lanes: a bank conflict
#define VEC_WIDTH 4
#endif

#define UNROLL _Pragma("unroll")  // register arrays need it: their indices become constants

namespace {

// ---- Sizes ----------------------------------------------------------------------------------------------------------

constexpr int kThreads = 32 * NUM_WARPS;
constexpr int kColumns = kThreads * ROWS / BLOCK_M;  // threads side by side over a row
constexpr int kRowGroups = 32 / kColumns;            // rows side by side over a warp
constexpr int kRowsPerWarp = ROWS * kRowGroups;
constexpr int kKeys = BLOCK_N / kColumns;                            // keys a thread
constexpr int kOut = HEAD_DIM / kColumns;                            // columns of O a thread
constexpr int kOutVector = kOut < 4 ? kOut : 4;                      // of them side by side
constexpr int kTileStride = HEAD_DIM + 4;                            // floats from a Q or K row to the next
constexpr int kProbStride = BLOCK_N + kColumns;                      // floats from a row of P to the next
constexpr int kLaneStep = kRowGroups > 1 ? 2 : 1;                    // lanes from a column to the next
constexpr int kFetches = BLOCK_N * HEAD_DIM / VEC_WIDTH / kThreads;  // of a K or V tile, a thread
constexpr unsigned kFullWarp = 0xffffffffu;
constexpr float kLog2e = 1.4426950408889634f;
static_assert(kColumns >= 4 && kColumns <= 32 && kColumns * BLOCK_M == kThreads * ROWS);
static_assert(kFetches * VEC_WIDTH * kThreads == BLOCK_N * HEAD_DIM);

// ---- Mask -----------------------------------------------------------------------------------------------------------

__device__ __forceinline__ float minus_infinity() { return __int_as_float(0xff800000); }

// Largest key, exclusive, that a query row may see.
__device__ __forceinline__ int visible_keys(int row, int seq_q, int seq_k) {
  if constexpr (CAUSAL == 1) return min(row + 1, seq_k);
  if constexpr (CAUSAL == 2) return max(0, min(row + 1 + seq_k - seq_q, seq_k));
  return seq_k;
}

// ---- Load -----------------------------------------------------------------------------------------------------------

// One fetch's worth of halves.
template <int kHalves>
struct VectorOf;
template <>
struct VectorOf<1> {
  using Type = unsigned short;
};
template <>
struct VectorOf<2> {
  using Type = unsigned int;
};
template <>
struct VectorOf<4> {
  using Type = uint2;
};
template <>
struct VectorOf<8> {
  using Type = uint4;
};
using Vector = VectorOf<VEC_WIDTH>::Type;

// Vector number i of rows first… of a [rows][HEAD_DIM] tensor; rows past the end are zeros.
__device__ __forceinline__ Vector fetch(const ATTN_T* tensor, int i, int first, int rows) {
  const int row = first + i * VEC_WIDTH / HEAD_DIM;
  Vector value{};
  if (row < rows) value = *reinterpret_cast<const Vector*>(tensor + (size_t)row * HEAD_DIM + i * VEC_WIDTH % HEAD_DIM);
  return value;
}

// Puts vector number i, times `factor`, into an fp32 tile.
template <int kStride>
__device__ __forceinline__ void put(float* tile, int i, Vector value, float factor) {
  const ATTN_T* halves = reinterpret_cast<const ATTN_T*>(&value);
  float* at = tile + i * VEC_WIDTH / HEAD_DIM * kStride + i * VEC_WIDTH % HEAD_DIM;
  if constexpr (VEC_WIDTH >= 4) {
    UNROLL
    for (int part = 0; part < VEC_WIDTH; part += 4) {
      *reinterpret_cast<float4*>(at + part) =
          make_float4(float(halves[part]) * factor, float(halves[part + 1]) * factor, float(halves[part + 2]) * factor,
                      float(halves[part + 3]) * factor);
    }
  } else if constexpr (VEC_WIDTH == 2) {
    *reinterpret_cast<float2*>(at) = make_float2(float(halves[0]) * factor, float(halves[1]) * factor);
  } else {
    *at = float(halves[0]) * factor;
  }
}

// A thread's part of the K and V tiles, on the way from global to shared memory.
struct Fetched {
  Vector k[kFetches], v[kFetches];

  __device__ __forceinline__ void fetch_from(const ATTN_T* k_head, const ATTN_T* v_head, int first_key, int seq_k) {
    UNROLL
    for (int i = 0; i < kFetches; ++i) {
      k[i] = fetch(k_head, threadIdx.x + i * kThreads, first_key, seq_k);
      v[i] = fetch(v_head, threadIdx.x + i * kThreads, first_key, seq_k);
    }
  }
  __device__ __forceinline__ void put_into(float* K_tile, float* V_tile) const {
    UNROLL
    for (int i = 0; i < kFetches; ++i) {
      put<kTileStride>(K_tile, threadIdx.x + i * kThreads, k[i], 1.0f);
      put<HEAD_DIM>(V_tile, threadIdx.x + i * kThreads, v[i], 1.0f);
    }
  }
};

// ---- Products -------------------------------------------------------------------------------------------------------

__device__ __forceinline__ float dot4(float4 a, float4 b, float sum) {
  sum = fmaf(a.x, b.x, sum);
  sum = fmaf(a.y, b.y, sum);
  sum = fmaf(a.z, b.z, sum);
  return fmaf(a.w, b.w, sum);
}

__device__ __forceinline__ float part_of(float4 value, int i) {
  return i == 0 ? value.x : i == 1 ? value.y : i == 2 ? value.z : value.w;
}

// ---- Rows -----------------------------------------------------------------------------------------------------------

// Over the lanes that share a row.
__device__ __forceinline__ float row_max(float value) {
  UNROLL
  for (int step = kLaneStep; step < kLaneStep * kColumns; step *= 2)
    value = fmaxf(value, __shfl_xor_sync(kFullWarp, value, step));
  return value;
}

__device__ __forceinline__ float row_sum(float value) {
  UNROLL
  for (int step = kLaneStep; step < kLaneStep * kColumns; step *= 2) value += __shfl_xor_sync(kFullWarp, value, step);
  return value;
}

}  // namespace

// ---- Kernel ---------------------------------------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(32 * NUM_WARPS)
    attention_scalar(const ATTN_T* __restrict__ q, const ATTN_T* __restrict__ k, const ATTN_T* __restrict__ v,
                     ATTN_T* __restrict__ o, float scale, int batch, int heads, int seq_q, int seq_k) {
  extern __shared__ __align__(16) float shared[];
  float* Q_tile = shared;                          // [BLOCK_M][kTileStride], times scale·log2(e)
  float* K_tile = Q_tile + BLOCK_M * kTileStride;  // [BLOCK_N][kTileStride]
  float* V_tile = K_tile + BLOCK_N * kTileStride;  // [BLOCK_N][HEAD_DIM]
  float* P_tile = V_tile + BLOCK_N * HEAD_DIM;     // [BLOCK_M][kProbStride]

  const int lane = threadIdx.x % 32;
  const int column = lane / kLaneStep % kColumns;
  const int row_group = kRowGroups > 1 ? lane % 2 + lane / (2 * kColumns) * 2 : 0;
  const int tile_row = threadIdx.x / 32 * kRowsPerWarp + row_group;  // the thread's rows: this, + kRowGroups, …
  const int first_row = blockIdx.x * BLOCK_M;
  const size_t head = (size_t)blockIdx.z * heads + blockIdx.y;
  const ATTN_T* q_head = q + head * seq_q * HEAD_DIM;
  const ATTN_T* k_head = k + head * seq_k * HEAD_DIM;
  const ATTN_T* v_head = v + head * seq_k * HEAD_DIM;
  const int last_row = min(first_row + BLOCK_M, seq_q) - 1;
  const int keys = visible_keys(last_row, seq_q, seq_k);  // later keys are masked for every row of this CTA

  Fetched next;
  if constexpr (STAGES == 2) next.fetch_from(k_head, v_head, 0, seq_k);
  for (int i = threadIdx.x; i < BLOCK_M * HEAD_DIM / VEC_WIDTH; i += kThreads)
    put<kTileStride>(Q_tile, i, fetch(q_head, i, first_row, seq_q), scale * kLog2e);

  float running_max[ROWS], running_sum[ROWS];  // the sum: of this thread's keys
  float out[ROWS][kOut];                       // not yet divided by the row's sum
  UNROLL
  for (int i = 0; i < ROWS; ++i) {
    running_max[i] = minus_infinity();
    running_sum[i] = 0.0f;
    UNROLL
    for (int c = 0; c < kOut; ++c) out[i][c] = 0.0f;
  }

  for (int first_key = 0; first_key < keys; first_key += BLOCK_N) {
    // Load.
    if constexpr (STAGES == 1) next.fetch_from(k_head, v_head, first_key, seq_k);
    __syncthreads();  // every warp has read the tiles before
    next.put_into(K_tile, V_tile);
    __syncthreads();
    if (STAGES == 2 && first_key + BLOCK_N < keys) next.fetch_from(k_head, v_head, first_key + BLOCK_N, seq_k);

    // Scores: S = Q·K^T times log2(e), for key column + j·kColumns of row tile_row + i·kRowGroups.
    float s[ROWS][kKeys];
    UNROLL
    for (int i = 0; i < ROWS; ++i) {
      UNROLL
      for (int j = 0; j < kKeys; ++j) s[i][j] = 0.0f;
    }
#pragma unroll 4
    for (int d = 0; d < HEAD_DIM; d += 4) {
      float4 q4[ROWS];
      UNROLL
      for (int i = 0; i < ROWS; ++i)
        q4[i] = *reinterpret_cast<const float4*>(&Q_tile[(tile_row + i * kRowGroups) * kTileStride + d]);
      UNROLL
      for (int j = 0; j < kKeys; ++j) {
        const float4 k4 = *reinterpret_cast<const float4*>(&K_tile[(column + j * kColumns) * kTileStride + d]);
        UNROLL
        for (int i = 0; i < ROWS; ++i) s[i][j] = dot4(q4[i], k4, s[i][j]);
      }
    }

    // Softmax: S becomes probabilities in P_tile; what stood under an older maximum is scaled down to the new one.
    const bool whole = first_key + BLOCK_N <= visible_keys(first_row, seq_q, seq_k);  // no key masked for any row
    UNROLL
    for (int i = 0; i < ROWS; ++i) {
      const int row = tile_row + i * kRowGroups;
      if (!whole) {
        const int visible = visible_keys(first_row + row, seq_q, seq_k) - first_key;
        UNROLL
        for (int j = 0; j < kKeys; ++j)
          if (column + j * kColumns >= visible) s[i][j] = minus_infinity();
      }
      float tile_max = s[i][0];
      UNROLL
      for (int j = 1; j < kKeys; ++j) tile_max = fmaxf(tile_max, s[i][j]);
      const float new_max = fmaxf(running_max[i], row_max(tile_max));
      const float base = new_max == minus_infinity() ? 0.0f : new_max;  // all masked so far: 2^(-inf - 0) = 0
      const float rescale = exp2f(running_max[i] - base);
      running_max[i] = new_max;
      running_sum[i] *= rescale;
      UNROLL
      for (int c = 0; c < kOut; ++c) out[i][c] *= rescale;
      UNROLL
      for (int j = 0; j < kKeys; ++j) {
        const float p = exp2f(s[i][j] - base);
        running_sum[i] += p;
        P_tile[row * kProbStride + column + j * kColumns] = p;
      }
    }
    __syncwarp();  // only lanes of this warp read a row's probabilities

    // Output: O += P·V, columns kOutVector·(column + c·kColumns) and those behind, of the same rows.
#pragma unroll 2
    for (int key = 0; key < BLOCK_N; key += 4) {
      float4 p4[ROWS];
      UNROLL
      for (int i = 0; i < ROWS; ++i)
        p4[i] = *reinterpret_cast<const float4*>(&P_tile[(tile_row + i * kRowGroups) * kProbStride + key]);
      UNROLL
      for (int part = 0; part < 4; ++part) {
        UNROLL
        for (int c = 0; c < kOut; c += kOutVector) {
          const float* v_row = &V_tile[(key + part) * HEAD_DIM + kOutVector * column + c * kColumns];
          float values[kOutVector];
          if constexpr (kOutVector == 4) {
            *reinterpret_cast<float4*>(values) = *reinterpret_cast<const float4*>(v_row);
          } else {
            *reinterpret_cast<float2*>(values) = *reinterpret_cast<const float2*>(v_row);
          }
          UNROLL
          for (int i = 0; i < ROWS; ++i) {
            UNROLL
            for (int x = 0; x < kOutVector; ++x) out[i][c + x] = fmaf(part_of(p4[i], part), values[x], out[i][c + x]);
          }
        }
      }
    }
  }

  // Epilogue: divides and stores; a row that saw no key is 0.
  UNROLL
  for (int i = 0; i < ROWS; ++i) {
    const float total = row_sum(running_sum[i]);
    const int row = first_row + tile_row + i * kRowGroups;
    const float inverse = visible_keys(row, seq_q, seq_k) > 0 ? 1.0f / total : 0.0f;
    if (row >= seq_q) continue;
    ATTN_T* o_row = o + (head * seq_q + row) * HEAD_DIM + kOutVector * column;
    UNROLL
    for (int c = 0; c < kOut; c += kOutVector) {
      __align__(8) ATTN_T values[kOutVector];
      UNROLL
      for (int x = 0; x < kOutVector; ++x) values[x] = ATTN_T(out[i][c + x] * inverse);
      if constexpr (kOutVector == 4) {
        *reinterpret_cast<uint2*>(o_row + c * kColumns) = *reinterpret_cast<const uint2*>(values);
      } else {
        *reinterpret_cast<unsigned*>(o_row + c * kColumns) = *reinterpret_cast<const unsigned*>(values);
      }
    }
  }
}
