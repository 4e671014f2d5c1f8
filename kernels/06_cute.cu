// Rung 6: cute. The reports' Tensor Core prototype for S = 512, finished in CuTe: what the mma rung spells out address by
// address is said here in layouts.
//
// What changed: nothing in the algorithm of rung 5. A tile in shared memory is a layout, Swizzle<3, 3, 3> over rows of 64
// halves; which element of it a lane addresses, for cp.async, ldmatrix or the store of O, is another layout composed with
// it, and the compiler folds both into one address. Which row and column of a product an accumulator's element has, is asked
// of the instruction's own CLayout. What no layout says stays by hand: the mask, the online softmax, and that the scores'
// accumulator is the next product's A operand.
//   * Everything is declared statically: 40 KB at 64x64 and 48 KB at 128x64 with two stages, the most there is.
//   * The softmax is rung 5's: exponentials by exp2 with the scale folded in, a row's maximum by two shuffles.
//
// What disappointed: compiling. Written with CuTe's TiledMMA and TiledCopy this very kernel took the compiler 33 s of CPU time,
// 20 of them for templates that work out what these few layouts say; with layouts and bare atoms it takes one. That is why
// no partition_fragment or make_tiled_copy stands here. And the 128x64 tile that the reports wanted: at their shape it is
// half as many CTAs as 64x64, fewer than an L4 has SMs. The manifest's story has what is modelled.
//
// Layout: q, o are [batch][heads][seq_q][HEAD_DIM], k, v are [batch][kv_heads][seq_k][HEAD_DIM], row-major, 16-byte
// aligned. Grid (ceil(seq_q / BLOCK_M), heads, batch), 32·NUM_WARPS threads. Needs CUTLASS' headers: attnscope fetch.
#include <cuda_fp16.h>
#include <cute/layout.hpp>
#include <cute/swizzle_layout.hpp>
#include <cute/arch/copy_sm75.hpp>
#include <cute/arch/copy_sm80.hpp>
#include <cute/arch/mma_sm80.hpp>
#include <cute/atom/mma_traits_sm80.hpp>

#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif
#ifndef CAUSAL  // 0 none, 1 top_left, 2 bottom_right
#define CAUSAL 0
#endif
#ifndef BLOCK_M
#define BLOCK_M 64
#endif
#ifndef BLOCK_N
#define BLOCK_N 64
#endif
#ifndef NUM_WARPS
#define NUM_WARPS 4
#endif
#ifndef STAGES
#define STAGES 2
#endif

namespace {

using namespace cute;

constexpr int kThreads = 32 * NUM_WARPS;
constexpr int kRowTiles = BLOCK_M / (16 * NUM_WARPS);  // tiles of 16 query rows a warp
constexpr int kDepth = HEAD_DIM / 16;                  // steps over a row of Q and K
constexpr int kKeyTiles = BLOCK_N / 8;                 // tiles over the keys of the scores
constexpr int kOutTiles = HEAD_DIM / 8;                // and over the columns of O
constexpr int kTile = BLOCK_N * HEAD_DIM;              // halves of a K or V tile
constexpr unsigned kFullWarp = 0xffffffffu;
constexpr float kLog2e = 1.4426950408889634f;
static_assert(HEAD_DIM == 64 && kRowTiles * 16 * NUM_WARPS == BLOCK_M && kRowTiles >= 1);

// (row, column) → halves. A row's 16-byte chunks are moved by the row's number: no bank conflict.
template <int kRows>
using Plane = decltype(composition(Swizzle<3, 3, 3>{}, Layout<Shape<Int<kRows>, _64>, Stride<_64, _1>>{}));
// In the layouts composed with it a row is a step of 1 and a column one of kRows.
// (thread, turn) → a chunk: eight threads a row.
template <int kRows>
using Chunks = decltype(composition(
    Plane<kRows>{}, Layout<Shape<Shape<_8, Int<kThreads / 8>>, Int<kRows * 8 / kThreads>>,
                          Stride<Stride<Int<8 * kRows>, _1>, Int<kThreads / 8>>>{}));
// (lane, 16 rows, 16 columns) → the row of an 8x8 matrix that the lane names for ldmatrix. The four matrices: rows 0-7, 8-15 of
// columns 0-7, the same of 8-15 (Q, and V, which is transposed on the way) …
template <int kRows>
using Matrices = decltype(composition(Plane<kRows>{}, Layout<Shape<Shape<_16, _2>, Int<kRows / 16>, Int<HEAD_DIM / 16>>,
                                                            Stride<Stride<_1, Int<8 * kRows>>, _16, Int<16 * kRows>>>{}));
// … or rows 0-7 of columns 0-7 and 8-15, then rows 8-15 of both (K, whose rows are the columns of K^T).
using KeyMatrices = decltype(composition(
    Plane<BLOCK_N>{}, Layout<Shape<Shape<_8, _2, _2>, Int<BLOCK_N / 16>, Int<HEAD_DIM / 16>>,
                            Stride<Stride<_1, Int<8 * BLOCK_N>, _8>, _16, Int<16 * BLOCK_N>>>{}));

using Multiply = SM80_16x8x16_F32F16F16F32_TN;
using Places = MMA_Traits<Multiply>::CLayout;  // (lane, element) → row + 16 · column of a 16x8 product
__device__ __forceinline__ int row_of(int lane, int element) { return Places{}(lane, element) % 16; }
__device__ __forceinline__ int column_of(int lane, int element) { return Places{}(lane, element) / 16; }

struct Part {  // a lane's part of a 16x8 tile: elements 0 and 1 of one row, 2 and 3 of the row eight below
  float at[4];
};
struct Operand {  // A: a lane's part of 16x16 halves
  uint32_t at[4];
};

__device__ __forceinline__ float minus_infinity() { return __int_as_float(0xff800000); }

// Largest key, exclusive, that a query row may see.
__device__ __forceinline__ int visible_keys(int row, int seq_q, int seq_k) {
#if CAUSAL == 1
  return min(row + 1, seq_k);
#elif CAUSAL == 2
  return max(0, min(row + 1 + seq_k - seq_q, seq_k));
#else
  return seq_k;
#endif
}

__device__ __forceinline__ uint128_t& chunk_of(half* halves) { return *reinterpret_cast<uint128_t*>(halves); }
__device__ __forceinline__ const uint128_t& chunk_of(const half* halves) {
  return *reinterpret_cast<const uint128_t*>(halves);
}

// Starts copying rows first… of a [rows][HEAD_DIM] tensor into a tile; rows past the end are zeros.
template <int kRows>
__device__ __forceinline__ void fetch(half* tile, const half* tensor, int first, int rows) {
  CUTE_UNROLL
  for (int turn = 0; turn < kRows * 8 / kThreads; ++turn) {
    const int row = first + threadIdx.x / 8 + turn * (kThreads / 8);
    const half* from = tensor + (size_t)(row < rows ? row : 0) * HEAD_DIM + threadIdx.x % 8 * 8;
    SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<uint128_t>::copy(chunk_of(from), chunk_of(tile + Chunks<kRows>{}(threadIdx.x, turn)),
                                                     row < rows);
  }
}

__device__ __forceinline__ void load(uint32_t (&to)[4], const half* from) {
  SM75_U32x4_LDSM_N::copy(chunk_of(from), to[0], to[1], to[2], to[3]);
}
__device__ __forceinline__ void load_transposed(uint32_t (&to)[4], const half* from) {
  SM75_U16x8_LDSM_T::copy(chunk_of(from), to[0], to[1], to[2], to[3]);
}
__device__ __forceinline__ void multiply_add(Part& c, const Operand& a, uint32_t b0, uint32_t b1) {
  Multiply::fma(c.at[0], c.at[1], c.at[2], c.at[3], a.at[0], a.at[1], a.at[2], a.at[3], b0, b1, c.at[0], c.at[1], c.at[2],
                c.at[3]);
}

__device__ __forceinline__ uint32_t pack(float low, float high) {
  const half2 both = __floats2half2_rn(low, high);
  return *reinterpret_cast<const uint32_t*>(&both);
}

// What a warp keeps of its rows: two a lane and tile of 16.
struct Rows {
  Part out[kRowTiles][kOutTiles];  // not yet divided by the row's sum
  float max[kRowTiles][2];            // of the scores times scale·log2(e)
  float sum[kRowTiles][2];            // of this lane's keys alone
};

// s = Q·K^T for one tile of keys.
__device__ __forceinline__ void score(Part (&s)[kRowTiles][kKeyTiles], const Operand (&q)[kRowTiles][kDepth],
                                      const half* K_tile, int lane) {
  CUTE_UNROLL
  for (int m = 0; m < kRowTiles; ++m)
    CUTE_UNROLL
    for (int n = 0; n < kKeyTiles; ++n) s[m][n] = {};
  CUTE_UNROLL
  for (int depth = 0; depth < kDepth; ++depth) {
    CUTE_UNROLL
    for (int n = 0; n < kKeyTiles; n += 2) {
      uint32_t k[4];
      load(k, K_tile + KeyMatrices{}(lane, n / 2, depth));
      CUTE_UNROLL
      for (int m = 0; m < kRowTiles; ++m) {
        multiply_add(s[m][n], q[m][depth], k[0], k[1]);
        multiply_add(s[m][n + 1], q[m][depth], k[2], k[3]);
      }
    }
  }
}

// Scores become probabilities under the rows' maxima; what stood under older ones is scaled down.
__device__ __forceinline__ void soften(Part (&s)[kRowTiles][kKeyTiles], Rows& rows, int first_row, int first_key,
                                       int seq_q, int seq_k, float scale_log2, bool masked, int lane) {
  CUTE_UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    CUTE_UNROLL
    for (int lower = 0; lower < 2; ++lower) {
      const int visible = visible_keys(first_row + m * 16 + row_of(lane, 2 * lower), seq_q, seq_k) - first_key;
      float tile_max = minus_infinity();
      CUTE_UNROLL
      for (int n = 0; n < kKeyTiles; ++n) {
        CUTE_UNROLL
        for (int x = 2 * lower; x < 2 * lower + 2; ++x) {
          s[m][n].at[x] *= scale_log2;
          if (masked && n * 8 + column_of(lane, x) >= visible) s[m][n].at[x] = minus_infinity();
          tile_max = fmaxf(tile_max, s[m][n].at[x]);
        }
      }
      tile_max = fmaxf(tile_max, __shfl_xor_sync(kFullWarp, tile_max, 1));
      tile_max = fmaxf(tile_max, __shfl_xor_sync(kFullWarp, tile_max, 2));
      const float new_max = fmaxf(rows.max[m][lower], tile_max);
      const float base = new_max == minus_infinity() ? 0.0f : new_max;  // a row masked so far: 2^(-inf - 0) = 0
      const float rescale = exp2f(rows.max[m][lower] - base);
      rows.max[m][lower] = new_max;
      rows.sum[m][lower] *= rescale;
      CUTE_UNROLL
      for (int x = 2 * lower; x < 2 * lower + 2; ++x) {
        CUTE_UNROLL
        for (int n = 0; n < kOutTiles; ++n) rows.out[m][n].at[x] *= rescale;
        CUTE_UNROLL
        for (int n = 0; n < kKeyTiles; ++n) {
          s[m][n].at[x] = exp2f(s[m][n].at[x] - base);
          rows.sum[m][lower] += s[m][n].at[x];
        }
      }
    }
  }
}

// O += P·V. Two of the scores' tiles side by side are an A operand as they stand.
__device__ __forceinline__ void accumulate(Rows& rows, const Part (&p)[kRowTiles][kKeyTiles], const half* V_tile,
                                           int lane) {
  CUTE_UNROLL
  for (int key = 0; key < BLOCK_N / 16; ++key) {
    Operand a[kRowTiles];
    CUTE_UNROLL
    for (int m = 0; m < kRowTiles; ++m)
      CUTE_UNROLL
      for (int part = 0; part < 4; ++part) {
        const float(&pair)[4] = p[m][2 * key + part / 2].at;
        a[m].at[part] = pack(pair[part % 2 * 2], pair[part % 2 * 2 + 1]);
      }
    CUTE_UNROLL
    for (int n = 0; n < kOutTiles; n += 2) {
      uint32_t v[4];
      load_transposed(v, V_tile + Matrices<BLOCK_N>{}(lane, key, n / 2));
      CUTE_UNROLL
      for (int m = 0; m < kRowTiles; ++m) {
        multiply_add(rows.out[m][n], a[m], v[0], v[1]);
        multiply_add(rows.out[m][n + 1], a[m], v[2], v[3]);
      }
    }
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(32 * NUM_WARPS)
attention_cute(const half* __restrict__ q, const half* __restrict__ k, const half* __restrict__ v, half* __restrict__ o,
               float scale, int batch, int heads, int kv_heads, int seq_q, int seq_k) {
  __shared__ __align__(128) half Q_tile[BLOCK_M * HEAD_DIM];  // at the end O
  __shared__ __align__(128) half K_tiles[STAGES * kTile];
  __shared__ __align__(128) half V_tiles[STAGES * kTile];

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int first_row = blockIdx.x * BLOCK_M, warp_row = first_row + warp * kRowTiles * 16;
  const size_t head = (size_t)blockIdx.z * heads + blockIdx.y;
  const size_t kv_head = (size_t)blockIdx.z * kv_heads + blockIdx.y / ((unsigned)heads / (unsigned)kv_heads);
  const half* k_head = k + kv_head * seq_k * HEAD_DIM;
  const half* v_head = v + kv_head * seq_k * HEAD_DIM;
  const float scale_log2 = scale * kLog2e;
  const int keys = visible_keys(min(first_row + BLOCK_M, seq_q) - 1, seq_q, seq_k);  // later ones no row here sees
  const int whole_keys = visible_keys(warp_row, seq_q, seq_k);                       // every row of the warp sees these

  const auto fetch_keys = [&](int first_key) {
    const int stage = first_key / BLOCK_N % STAGES;
    if (first_key < keys) {
      fetch<BLOCK_N>(K_tiles + stage * kTile, k_head, first_key, seq_k);
      fetch<BLOCK_N>(V_tiles + stage * kTile, v_head, first_key, seq_k);
    }
    cp_async_fence();  // also where nothing was fetched: groups are counted
  };

  fetch<BLOCK_M>(Q_tile, q + head * seq_q * HEAD_DIM, first_row, seq_q);
  cp_async_fence();
  CUTE_UNROLL
  for (int stage = 0; stage < STAGES - 1; ++stage) fetch_keys(stage * BLOCK_N);
  cp_async_wait<STAGES - 1>();
  __syncthreads();
  Operand q_operand[kRowTiles][kDepth];
  CUTE_UNROLL
  for (int m = 0; m < kRowTiles; ++m)
    CUTE_UNROLL
    for (int depth = 0; depth < kDepth; ++depth)
      load(q_operand[m][depth].at, Q_tile + Matrices<BLOCK_M>{}(lane, warp * kRowTiles + m, depth));

  Rows rows{};
  CUTE_UNROLL
  for (int m = 0; m < kRowTiles; ++m) rows.max[m][0] = rows.max[m][1] = minus_infinity();

  for (int first_key = 0; first_key < keys; first_key += BLOCK_N) {
#if STAGES == 1
    __syncthreads();  // every warp has read the tiles before
    fetch_keys(first_key);
    cp_async_wait<0>();
    __syncthreads();
#else
    cp_async_wait<STAGES - 2>();
    __syncthreads();  // this tile is here for every warp, and every warp has read the one that is fetched over next
    fetch_keys(first_key + (STAGES - 1) * BLOCK_N);
#endif
    const int stage = first_key / BLOCK_N % STAGES;
    Part s[kRowTiles][kKeyTiles];
    score(s, q_operand, K_tiles + stage * kTile, lane);
    soften(s, rows, warp_row, first_key, seq_q, seq_k, scale_log2, first_key + BLOCK_N > whole_keys, lane);
    accumulate(rows, s, V_tiles + stage * kTile, lane);
  }
  cp_async_wait<0>();

  // Divide, and store by way of Q's place, so that a row leaves in 16-byte pieces side by side. A row that sees no key is 0;
  // one whose scores are all -infinity is 0/0, as in the plain formula.
  __syncwarp();  // a warp's rows of Q are its own
  CUTE_UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    CUTE_UNROLL
    for (int lower = 0; lower < 2; ++lower) {
      float sum = rows.sum[m][lower];
      sum += __shfl_xor_sync(kFullWarp, sum, 1);
      sum += __shfl_xor_sync(kFullWarp, sum, 2);
      const int row = m * 16 + row_of(lane, 2 * lower);
      const float inverse = visible_keys(warp_row + row, seq_q, seq_k) > 0 ? 1.0f / sum : 0.0f;
      CUTE_UNROLL
      for (int n = 0; n < kOutTiles; ++n) {
        const float(&pair)[4] = rows.out[m][n].at;
        half* to = Q_tile + Plane<BLOCK_M>{}(warp * kRowTiles * 16 + row, n * 8 + column_of(lane, 2 * lower));
        *reinterpret_cast<uint32_t*>(to) = pack(pair[2 * lower] * inverse, pair[2 * lower + 1] * inverse);
      }
    }
  }
  __syncthreads();
  CUTE_UNROLL
  for (int turn = 0; turn < BLOCK_M * 8 / kThreads; ++turn) {
    const int row = first_row + threadIdx.x / 8 + turn * (kThreads / 8);
    if (row < seq_q)
      chunk_of(o + (head * seq_q + row) * HEAD_DIM + threadIdx.x % 8 * 8) =
          chunk_of(const_cast<const half*>(Q_tile) + Chunks<BLOCK_M>{}(threadIdx.x, turn));
  }
}
