// Rung 6: cute. Rung 5's kernel written in CuTe: what the mma rung spells out address by address is a layout here.
//
// What changed: the algorithm and the knobs are rung 5's. A tile in shared memory is a layout, Swizzle<3, 3, 3> over
// rows of 64 halves. Which element of it a lane addresses, for cp.async, ldmatrix or the store of O, is another layout
// composed with it. The instruction's own CLayout says which row and column of a product an accumulator's element has.
// Three things no layout says, so they stay by hand: the mask, the online softmax, and that the scores' accumulator is
// the next product's A operand.
//   * A layout says where something is, not how to get there cheaply: evaluated at every ldmatrix, it swizzles in the
//     inner loop. Both of its halves are linear, the inner layout in its coordinates and the swizzle in XOR. So the
//     place of (lane, i, j) is that of (lane, 0, 0), which is kept, XOR that of (0, 0, j), plus that of (0, i, 0); the
//     last two are constants. Lane, below, does this. The compiler does not find it by itself; written so, it folds the
//     layouts to rung 5's addresses.
//   * Copies work the same way: a thread's next chunk is a constant further than its last, by both sides' layouts.
//
// What it gained: nothing against rung 5, and that is the point. What disappointed: compiling. CuTe's TiledMMA and
// TiledCopy make the compiler evaluate many more templates than these few layouts and bare atoms, so no
// partition_fragment and no make_tiled_copy is used here; even so rung 5 compiles several times faster. And the 128x64
// tile that the reports wanted: at their shape it has half as many CTAs as 64x64, fewer than an L4 has SMs.
//
// Times, us, hot, measured on an H200, each rung at its best config (bench/results/ladder_h200.json):
//            B1 H8 S512 D64    B32 H8 S512 D64    B4 H16 S4096 D64    B4 H16 S4096 D64 causal
//   mma                5.10               57.2                 771                        449
//   cute               5.12               58.7                 783                        451
//
// Map, in reading order, with the knobs that change each piece:
//   Sizes      what follows from the knobs: a warp's rows, tiles, steps        BLOCK_M BLOCK_N NUM_WARPS SPLIT_KEYS
//   Layouts    Plane: a tile; Chunks, Sources: cp.async; Matrices, KeyMatrices: ldmatrix; Lane: a lane's addresses
//   Mask       visible_keys(): the keys that a row sees; the CTA's first row
//   Load       fetch(): global to shared memory by cp.async                    STAGES
//              load(), load_transposed(): shared memory to registers by ldmatrix
//   Products   multiply(), multiply_add(): one mma.sync
//   Scores     score(): S = Q·K^T of a key tile; mask()                        Q_REGS
//   Softmax    raise_max(): the rows' maxima, and what stood under older ones scaled down
//   Output     accumulate(): P = exp(S - max), O += P·V
//   Epilogue   finish_rows(); combine(): the groups' parts become one          SPLIT_KEYS
//              store(): O divided, to global memory
//   Kernel     attention_cute(): the loop over key tiles                       STAGES Q_REGS SPLIT_KEYS
//
// Layout: q, o are [batch][heads][seq_q][HEAD_DIM], k, v are [batch][kv_heads][seq_k][HEAD_DIM], row-major, 16-byte
// aligned. Grid (ceil(seq_q / BLOCK_M), heads, batch), 32·NUM_WARPS threads. Needs CUTLASS' headers: attnscope fetch.
#include <cuda_fp16.h>
#include <cute/arch/copy_sm75.hpp>
#include <cute/arch/copy_sm80.hpp>
#include <cute/arch/mma_sm80.hpp>
#include <cute/atom/mma_traits_sm80.hpp>
#include <cute/layout.hpp>
#include <cute/swizzle_layout.hpp>

// The knobs' and the problem's values come as macros; these are for compiling the file by hand.
#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif
#ifndef CAUSAL  // 0 none, 1 top_left, 2 bottom_right
#define CAUSAL 0
#endif
#ifndef BLOCK_M  // query rows a CTA
#define BLOCK_M 64
#endif
#ifndef BLOCK_N  // keys a tile of one group of warps
#define BLOCK_N 64
#endif
#ifndef NUM_WARPS
#define NUM_WARPS 4
#endif
#ifndef SPLIT_KEYS  // groups of warps that share the rows, each with its own keys
#define SPLIT_KEYS 1
#endif
#ifndef STAGES  // K/V tiles in shared memory or on the way
#define STAGES 2
#endif
#ifndef Q_REGS  // 1: Q's operands are kept; 0: read from shared memory for every key tile
#define Q_REGS 1
#endif

namespace {

using namespace cute;

// ---- Sizes ----------------------------------------------------------------------------------------------------------

constexpr int kThreads = 32 * NUM_WARPS;
constexpr int kRowWarps = NUM_WARPS / SPLIT_KEYS;      // warps side by side over the query rows
constexpr int kRowTiles = BLOCK_M / (16 * kRowWarps);  // tiles of 16 rows a warp
constexpr int kStageKeys = BLOCK_N * SPLIT_KEYS;       // keys of a stage in shared memory, BLOCK_N a group of warps
constexpr int kDepth = HEAD_DIM / 16;                  // steps over a row of Q and K
constexpr int kKeyTiles = BLOCK_N / 8;                 // tiles over the keys of the scores
constexpr int kOutTiles = HEAD_DIM / 8;                // and over the columns of O
constexpr unsigned kFullWarp = 0xffffffffu;
constexpr float kLog2e = 1.4426950408889634f;
static_assert(kRowWarps * SPLIT_KEYS == NUM_WARPS && kRowTiles * 16 * kRowWarps == BLOCK_M && kRowTiles >= 1);
static_assert(HEAD_DIM == 64 && kThreads % 64 == 0 && BLOCK_M * 8 % kThreads == 0 && kStageKeys * 8 % kThreads == 0);

struct Part {  // a lane's part of a 16x8 tile: elements 0 and 1 of one row, 2 and 3 of the row eight below
  float at[4];
};
struct Operand {  // A: a lane's part of 16x16 halves
  uint32_t at[4];
};
// What a warp keeps of its rows: two a lane and tile of 16.
struct Rows {
  Part out[kRowTiles][kOutTiles];  // not yet divided by the row's sum
  float max[kRowTiles][2];         // of the scores, unscaled
  float sum[kRowTiles][2];         // of this lane's keys, until finish_rows()
};
using Scores = Part[kRowTiles][kKeyTiles];
using QOperands = Operand[kRowTiles][kDepth];
using Bases = float[kRowTiles][2];  // what the rows' exponents are relative to

// ---- Layouts --------------------------------------------------------------------------------------------------------

// (row, column) → halves. A row's 16-byte chunks are moved by the row's number: no bank conflict.
template <int kRows>
using Plane = decltype(composition(Swizzle<3, 3, 3>{}, Layout<Shape<Int<kRows>, _64>, Stride<_64, _1>>{}));
// The layouts composed with it count rows in steps of 1 and columns in steps of kRows.

// (thread, turn) → a chunk of a tile: eight threads a row …
template <int kRows, int kWorkers = kThreads>
using Chunks =
    decltype(composition(Plane<kRows>{}, Layout<Shape<Shape<_8, Int<kWorkers / 8>>, Int<kRows * 8 / kWorkers>>,
                                                Stride<Stride<Int<8 * kRows>, _1>, Int<kWorkers / 8>>>{}));
// … and the same chunk of a row-major tensor.
template <int kRows, int kWorkers = kThreads>
using Sources = Layout<Shape<Shape<_8, Int<kWorkers / 8>>, Int<kRows * 8 / kWorkers>>,
                       Stride<Stride<_8, Int<HEAD_DIM>>, Int<kWorkers / 8 * HEAD_DIM>>>;

// (lane, 16 rows, 16 columns) → the row of an 8x8 matrix that the lane names for ldmatrix. The four matrices: rows 0-7,
// 8-15 of columns 0-7, the same of 8-15 (Q, and V, which is transposed on the way) …
template <int kRows>
using Matrices =
    decltype(composition(Plane<kRows>{}, Layout<Shape<Shape<_16, _2>, Int<kRows / 16>, Int<HEAD_DIM / 16>>,
                                                Stride<Stride<_1, Int<8 * kRows>>, _16, Int<16 * kRows>>>{}));
// … or rows 0-7 of columns 0-7 and 8-15, then rows 8-15 of both (K, whose rows are the columns of K^T).
using KeyMatrices =
    decltype(composition(Plane<BLOCK_N>{}, Layout<Shape<Shape<_8, _2, _2>, Int<BLOCK_N / 16>, Int<HEAD_DIM / 16>>,
                                                  Stride<Stride<_1, Int<8 * BLOCK_N>, _8>, _16, Int<16 * BLOCK_N>>>{}));

// A lane's addresses of a (lane, 16 rows, 16 columns) layout over a tile, which begins at a multiple of 128 bytes.
template <class Places>
struct Lane {
  uint32_t first;
  __device__ __forceinline__ Lane(const half* tile, int lane)
      : first(cast_smem_ptr_to_uint(tile) + Places{}(lane, 0, 0) * sizeof(half)) {}
  __device__ __forceinline__ const uint128_t& at(int rows, int columns) const {
    const uint32_t address = (first ^ Places{}(0, 0, columns) * sizeof(half)) + Places{}(0, rows, 0) * sizeof(half);
    return *static_cast<const uint128_t*>(__cvta_shared_to_generic(address));
  }
};

using Multiply = SM80_16x8x16_F32F16F16F32_TN;
using Places = MMA_Traits<Multiply>::CLayout;  // (lane, element) → row + 16 · column of a 16x8 product
__device__ __forceinline__ int row_of(int lane, int element) { return Places{}(lane, element) % 16; }
__device__ __forceinline__ int column_of(int lane, int element) { return Places{}(lane, element) / 16; }

// ---- Mask -----------------------------------------------------------------------------------------------------------

__device__ __forceinline__ float minus_infinity() { return __int_as_float(0xff800000); }

// Largest key, exclusive, that a query row may see.
__device__ __forceinline__ int visible_keys(int row, int seq_q, int seq_k) {
  if constexpr (CAUSAL == 1) return min(row + 1, seq_k);
  if constexpr (CAUSAL == 2) return max(0, min(row + 1 + seq_k - seq_q, seq_k));
  return seq_k;
}

// Under a causal mask the CTAs with the most keys start first, so that the last to end are short ones.
__device__ __forceinline__ int first_row_of_cta() {
  return (CAUSAL ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * BLOCK_M;
}

// ---- Load -----------------------------------------------------------------------------------------------------------

__device__ __forceinline__ uint128_t& chunk_of(half* halves) { return *reinterpret_cast<uint128_t*>(halves); }
__device__ __forceinline__ const uint128_t& chunk_of(const half* halves) {
  return *reinterpret_cast<const uint128_t*>(halves);
}

// Starts copying kRows rows from row `first` of a [rows][HEAD_DIM] tensor; rows past the end become zeros. `mine` is
// the thread's first chunk for `first` 0: the tensor plus Sources(thread, 0).
template <int kRows>
__device__ __forceinline__ void fetch(half* tile, const half* mine, int first, int rows) {
  constexpr int kTurns = kRows * 8 / kThreads;
  half* to = tile + Chunks<kRows>{}(threadIdx.x, 0);
  const half* from = mine + (size_t)first * HEAD_DIM;
  if (first + kRows <= rows) {
    CUTE_UNROLL
    for (int turn = 0; turn < kTurns; ++turn)
      SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>::copy(chunk_of(from + Sources<kRows>{}(0, turn)),
                                                 chunk_of(to + Chunks<kRows>{}(0, turn)));
    return;
  }
  CUTE_NO_UNROLL
  for (int turn = 0; turn < kTurns; ++turn) {
    const bool there = first + int(threadIdx.x / 8) + turn * (kThreads / 8) < rows;
    SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<uint128_t>::copy(chunk_of(there ? from + Sources<kRows>{}(0, turn) : mine),
                                                     chunk_of(to + Chunks<kRows>{}(0, turn)), there);
  }
}

__device__ __forceinline__ void load(uint32_t (&to)[4], const uint128_t& from) {
  SM75_U32x4_LDSM_N::copy(from, to[0], to[1], to[2], to[3]);
}
__device__ __forceinline__ void load_transposed(uint32_t (&to)[4], const uint128_t& from) {
  SM75_U16x8_LDSM_T::copy(from, to[0], to[1], to[2], to[3]);
}
// ---- Products -------------------------------------------------------------------------------------------------------

__device__ __forceinline__ void multiply_add(Part& c, const Operand& a, uint32_t b0, uint32_t b1) {
  Multiply::fma(c.at[0], c.at[1], c.at[2], c.at[3], a.at[0], a.at[1], a.at[2], a.at[3], b0, b1, c.at[0], c.at[1],
                c.at[2], c.at[3]);
}
// c = a·b, with no register to clear.
__device__ __forceinline__ void multiply(Part& c, const Operand& a, uint32_t b0, uint32_t b1) {
  Multiply::fma(c.at[0], c.at[1], c.at[2], c.at[3], a.at[0], a.at[1], a.at[2], a.at[3], b0, b1, 0.0f, 0.0f, 0.0f, 0.0f);
}

__device__ __forceinline__ uint32_t pack(float low, float high) {
  const half2 both = __floats2half2_rn(low, high);
  return *reinterpret_cast<const uint32_t*>(&both);
}

// ---- Scores ---------------------------------------------------------------------------------------------------------

// S = Q·K^T, unscaled, for one tile of keys. Q_REGS 0 reads Q's operands here.
__device__ __forceinline__ void score(Scores& s, QOperands& q, const Lane<Matrices<BLOCK_M>>& Q_rows,
                                      const Lane<KeyMatrices>& K_rows) {
  CUTE_UNROLL
  for (int depth = 0; depth < kDepth; ++depth) {
    if constexpr (!Q_REGS) {
      CUTE_UNROLL
      for (int m = 0; m < kRowTiles; ++m) load(q[m][depth].at, Q_rows.at(m, depth));
    }
    CUTE_UNROLL
    for (int n = 0; n < kKeyTiles; n += 2) {
      uint32_t k[4];
      load(k, K_rows.at(n / 2, depth));
      CUTE_UNROLL
      for (int m = 0; m < kRowTiles; ++m) {
        if (depth == 0) {
          multiply(s[m][n], q[m][depth], k[0], k[1]);
          multiply(s[m][n + 1], q[m][depth], k[2], k[3]);
        } else {
          multiply_add(s[m][n], q[m][depth], k[0], k[1]);
          multiply_add(s[m][n + 1], q[m][depth], k[2], k[3]);
        }
      }
    }
  }
}

// Keys from `first_key` on that a row may not see, or that do not exist, score -infinity.
__device__ __forceinline__ void mask(Scores& s, int first_row, int first_key, int seq_q, int seq_k, int lane) {
  CUTE_UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    CUTE_UNROLL
    for (int lower = 0; lower < 2; ++lower) {
      const int row = first_row + m * 16 + row_of(lane, 2 * lower);
      const int visible = visible_keys(row, seq_q, seq_k) - first_key - column_of(lane, 0);
      CUTE_UNROLL
      for (int n = 0; n < kKeyTiles; ++n) {
        CUTE_UNROLL
        for (int x = 2 * lower; x < 2 * lower + 2; ++x)
          if (n * 8 + column_of(0, x) >= visible) s[m][n].at[x] = minus_infinity();
      }
    }
  }
}

// ---- Softmax --------------------------------------------------------------------------------------------------------

// Raises the rows' maxima to this tile's and scales down what stood under older ones.
__device__ __forceinline__ void raise_max(const Scores& s, Rows& rows, Bases& bases, float scale_log2) {
  bool raised = false;
  float rescale[kRowTiles][2];
  CUTE_UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    CUTE_UNROLL
    for (int lower = 0; lower < 2; ++lower) {
      float tile_max = s[m][0].at[2 * lower];
      CUTE_UNROLL
      for (int n = 0; n < kKeyTiles; ++n)
        tile_max = fmaxf(tile_max, fmaxf(s[m][n].at[2 * lower], s[m][n].at[2 * lower + 1]));
      tile_max = fmaxf(tile_max, __shfl_xor_sync(kFullWarp, tile_max, 1));  // four lanes share a row
      tile_max = fmaxf(tile_max, __shfl_xor_sync(kFullWarp, tile_max, 2));
      const float old_max = rows.max[m][lower], new_max = fmaxf(old_max, tile_max);
      const float base = new_max == minus_infinity() ? 0.0f : new_max * scale_log2;  // all masked so far: 2^(-inf) = 0
      rescale[m][lower] = exp2f(old_max * scale_log2 - base);
      raised |= new_max > old_max;
      rows.max[m][lower] = new_max;
      bases[m][lower] = base;
    }
  }
  // Most tiles of a long row raise nothing. Where O is small, multiplying by 1 costs less than a branch.
  if (kRowTiles * kOutTiles > 16 && !__any_sync(kFullWarp, raised)) return;
  CUTE_UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    CUTE_UNROLL
    for (int x = 0; x < 4; ++x) {
      if (x % 2 == 0) rows.sum[m][x / 2] *= rescale[m][x / 2];
      CUTE_UNROLL
      for (int n = 0; n < kOutTiles; ++n) rows.out[m][n].at[x] *= rescale[m][x / 2];
    }
  }
}

// ---- Output ---------------------------------------------------------------------------------------------------------

// P = exp(S - max), O += P·V, for one tile of keys. Two tiles of the scores side by side are an A operand as they
// stand. It goes by 16 keys, so that the exponentials of one step can run beside the products of the step before.
__device__ __forceinline__ void accumulate(Rows& rows, const Scores& s, const Bases& bases, float scale_log2,
                                           const Lane<Matrices<BLOCK_N>>& V_rows) {
  CUTE_UNROLL
  for (int key = 0; key < BLOCK_N / 16; ++key) {
    Operand p[kRowTiles];
    CUTE_UNROLL
    for (int m = 0; m < kRowTiles; ++m) {
      CUTE_UNROLL
      for (int part = 0; part < 4; ++part) {
        const int lower = part % 2;
        const float(&pair)[4] = s[m][2 * key + part / 2].at;
        const float low = exp2f(fmaf(pair[2 * lower], scale_log2, -bases[m][lower]));
        const float high = exp2f(fmaf(pair[2 * lower + 1], scale_log2, -bases[m][lower]));
        rows.sum[m][lower] += low + high;
        p[m].at[part] = pack(low, high);
      }
    }
    CUTE_UNROLL
    for (int n = 0; n < kOutTiles; n += 2) {
      uint32_t v[4];
      load_transposed(v, V_rows.at(key, n / 2));
      CUTE_UNROLL
      for (int m = 0; m < kRowTiles; ++m) {
        multiply_add(rows.out[m][n], p[m], v[0], v[1]);
        multiply_add(rows.out[m][n + 1], p[m], v[2], v[3]);
      }
    }
  }
}

// ---- Epilogue -------------------------------------------------------------------------------------------------------

// Sums over the four lanes of a row, and maxima in the exponent's scale.
__device__ __forceinline__ void finish_rows(Rows& rows, float scale_log2) {
  CUTE_UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    CUTE_UNROLL
    for (int lower = 0; lower < 2; ++lower) {
      float& sum = rows.sum[m][lower];
      sum += __shfl_xor_sync(kFullWarp, sum, 1);
      sum += __shfl_xor_sync(kFullWarp, sum, 2);
      rows.max[m][lower] *= scale_log2;
    }
  }
}

// SPLIT_KEYS above 1: the groups' rows, each under its own maximum, become group 0's. The others leave theirs in
// `parts`, fp32.
__device__ __forceinline__ void combine(Rows& rows, float* parts, int group, int row_warp, int lane) {
  constexpr int kFloats = kRowTiles * (kOutTiles * 4 + 4);  // a lane's: maxima and sums, then O
  constexpr int kOthers = SPLIT_KEYS > 1 ? SPLIT_KEYS - 1 : 1;
  // (lane, float, warp, group) → floats
  using Shared = Layout<Shape<_32, Int<kFloats>, Int<kRowWarps>, Int<kOthers>>>;
  const auto float_of = [](int m, int n, int x) { return kRowTiles * 4 + (m * kOutTiles + n) * 4 + x; };
  if (group > 0) {
    float* mine = parts + Shared{}(lane, 0, row_warp, group - 1);
    CUTE_UNROLL
    for (int m = 0; m < kRowTiles; ++m) {
      CUTE_UNROLL
      for (int lower = 0; lower < 2; ++lower) {
        mine[Shared{}(0, m * 4 + lower * 2, 0, 0)] = rows.max[m][lower];
        mine[Shared{}(0, m * 4 + lower * 2 + 1, 0, 0)] = rows.sum[m][lower];
      }
      CUTE_UNROLL
      for (int n = 0; n < kOutTiles; ++n) {
        CUTE_UNROLL
        for (int x = 0; x < 4; ++x) mine[Shared{}(0, float_of(m, n, x), 0, 0)] = rows.out[m][n].at[x];
      }
    }
  }
  __syncthreads();
  if (group > 0) return;
  CUTE_UNROLL
  for (int other = 0; other < SPLIT_KEYS - 1; ++other) {
    const float* theirs = parts + Shared{}(lane, 0, row_warp, other);
    CUTE_UNROLL
    for (int m = 0; m < kRowTiles; ++m) {
      CUTE_UNROLL
      for (int lower = 0; lower < 2; ++lower) {
        const float its_max = theirs[Shared{}(0, m * 4 + lower * 2, 0, 0)];
        const float new_max = fmaxf(rows.max[m][lower], its_max);
        const float base = new_max == minus_infinity() ? 0.0f : new_max;
        const float mine = exp2f(rows.max[m][lower] - base), its = exp2f(its_max - base);
        rows.max[m][lower] = new_max;
        rows.sum[m][lower] = rows.sum[m][lower] * mine + theirs[Shared{}(0, m * 4 + lower * 2 + 1, 0, 0)] * its;
        CUTE_UNROLL
        for (int n = 0; n < kOutTiles; ++n) {
          CUTE_UNROLL
          for (int x = 2 * lower; x < 2 * lower + 2; ++x)
            rows.out[m][n].at[x] = rows.out[m][n].at[x] * mine + theirs[Shared{}(0, float_of(m, n, x), 0, 0)] * its;
        }
      }
    }
  }
}

// Divides O by the rows' sums and stores it by way of the warp's own rows of Q's tile, so that a row leaves in 16-byte
// pieces side by side. A row that sees no key is 0; one whose scores are all -infinity is 0/0, as in the plain formula.
__device__ __forceinline__ void store(half* o, size_t head, const Rows& rows, half* warp_tile, int warp_row, int seq_q,
                                      int seq_k, int lane) {
  CUTE_UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    CUTE_UNROLL
    for (int lower = 0; lower < 2; ++lower) {
      const int row = m * 16 + row_of(lane, 2 * lower);
      const float inverse = visible_keys(warp_row + row, seq_q, seq_k) > 0 ? 1.0f / rows.sum[m][lower] : 0.0f;
      CUTE_UNROLL
      for (int n = 0; n < kOutTiles; ++n) {
        const float(&pair)[4] = rows.out[m][n].at;
        const int column = n * 8 + column_of(lane, 2 * lower);
        half* to = warp_tile + Plane<kRowTiles * 16>{}(row, column);
        *reinterpret_cast<uint32_t*>(to) = pack(pair[2 * lower] * inverse, pair[2 * lower + 1] * inverse);
      }
    }
  }
  __syncwarp();
  half* o_rows = o + (head * seq_q + warp_row) * HEAD_DIM;
  CUTE_UNROLL
  for (int turn = 0; turn < kRowTiles * 4; ++turn)
    if (warp_row + lane / 8 + turn * 4 < seq_q)
      chunk_of(o_rows + Sources<kRowTiles * 16, 32>{}(lane, turn)) =
          chunk_of(const_cast<const half*>(warp_tile) + Chunks<kRowTiles * 16, 32>{}(lane, turn));
}

}  // namespace

// ---- Kernel ---------------------------------------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(32 * NUM_WARPS, 1)
    attention_cute(const half* __restrict__ q, const half* __restrict__ k, const half* __restrict__ v,
                   half* __restrict__ o, float scale, int batch, int heads, int kv_heads, int seq_q, int seq_k) {
  constexpr int kTile = cosize_v<Layout<Shape<Int<kStageKeys>, Int<HEAD_DIM>>>>;  // halves of a stage's K or V
  extern __shared__ __align__(128) unsigned char shared[];
  half* Q_tile = reinterpret_cast<half*>(shared);  // at the end O
  half* K_tiles = Q_tile + BLOCK_M * HEAD_DIM;     // STAGES of them
  half* V_tiles = K_tiles + STAGES * kTile;        // the same

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row_warp = warp % kRowWarps, group = warp / kRowWarps;
  const int first_row = first_row_of_cta();
  const int warp_row = first_row + row_warp * kRowTiles * 16;
  const size_t head = (size_t)blockIdx.z * heads + blockIdx.y;
  const size_t kv_head = (size_t)blockIdx.z * kv_heads + blockIdx.y / ((unsigned)heads / (unsigned)kv_heads);
  const half* k_head = k + kv_head * seq_k * HEAD_DIM + Sources<kStageKeys>{}(threadIdx.x, 0);
  const half* v_head = v + kv_head * seq_k * HEAD_DIM + Sources<kStageKeys>{}(threadIdx.x, 0);
  const float scale_log2 = scale * kLog2e;
  const int keys = visible_keys(min(first_row + BLOCK_M, seq_q) - 1, seq_q, seq_k);  // no row here sees later ones
  const int stages = (keys + kStageKeys - 1) / kStageKeys;

  const auto fetch_stage = [&](int stage) {
    if (stage < stages) {
      fetch<kStageKeys>(K_tiles + stage % STAGES * kTile, k_head, stage * kStageKeys, seq_k);
      fetch<kStageKeys>(V_tiles + stage % STAGES * kTile, v_head, stage * kStageKeys, seq_k);
    }
    cp_async_fence();  // also where nothing was fetched: groups are counted
  };

  // Q, and the first stages of K and V behind it.
  fetch<BLOCK_M>(Q_tile, q + head * seq_q * HEAD_DIM + Sources<BLOCK_M>{}(threadIdx.x, 0), first_row, seq_q);
  cp_async_fence();
  CUTE_UNROLL
  for (int stage = 0; stage < STAGES - 1; ++stage) fetch_stage(stage);
  cp_async_wait<STAGES - 1>();
  __syncthreads();
  half* warp_tile = Q_tile + row_warp * kRowTiles * 16 * HEAD_DIM;  // the warp's own rows of Q, and at the end of O
  const Lane<Matrices<BLOCK_M>> Q_rows(warp_tile, lane);
  QOperands q_operand;
  if constexpr (Q_REGS) {
    CUTE_UNROLL
    for (int m = 0; m < kRowTiles; ++m) {
      CUTE_UNROLL
      for (int depth = 0; depth < kDepth; ++depth) load(q_operand[m][depth].at, Q_rows.at(m, depth));
    }
  }

  Rows rows{};
  CUTE_UNROLL
  for (int m = 0; m < kRowTiles; ++m) rows.max[m][0] = rows.max[m][1] = minus_infinity();

  for (int stage = 0; stage < stages; ++stage) {
    if constexpr (STAGES == 1) {
      __syncthreads();  // every warp has read the tiles before
      fetch_stage(stage);
      cp_async_wait<0>();
      __syncthreads();
    } else {
      cp_async_wait<STAGES - 2>();
      __syncthreads();  // this stage is here for every warp, and every warp has read the one that is fetched over next
      fetch_stage(stage + STAGES - 1);
    }
    const int first_key = stage * kStageKeys + group * BLOCK_N;
    if (SPLIT_KEYS > 1 && first_key >= keys) continue;
    const int in_stages = stage % STAGES * kTile + group * BLOCK_N * HEAD_DIM;
    Scores s;
    score(s, q_operand, Q_rows, {K_tiles + in_stages, lane});
    if (first_key + BLOCK_N > visible_keys(warp_row, seq_q, seq_k)) mask(s, warp_row, first_key, seq_q, seq_k, lane);
    Bases bases;
    raise_max(s, rows, bases, scale_log2);
    accumulate(rows, s, bases, scale_log2, {V_tiles + in_stages, lane});
  }
  cp_async_wait<0>();

  finish_rows(rows, scale_log2);
  if constexpr (SPLIT_KEYS > 1) {
    __syncthreads();  // every warp has read the tiles: their place is now the parts'
    combine(rows, reinterpret_cast<float*>(K_tiles), group, row_warp, lane);
    if (group > 0) return;
  }
  __syncwarp();
  store(o, head, rows, warp_tile, warp_row, seq_q, seq_k, lane);
}
