// Rung 4: wmma. Both products on the Tensor Cores by nvcuda::wmma: one instruction does 4096 multiply-adds of a warp
// where the scalar rung's FFMA does 32.
//
// What changed: a warp owns BLOCK_M / NUM_WARPS whole query rows. It keeps their Q in fragments. K and V come from
// global memory by cp.async, which passes no register, and from shared memory as fragments.
//   * The compiler does not say which element of a fragment a thread holds. So work on rows goes through a part of
//     shared memory that no other warp touches, the scratch. The scores are stored there and read back by lanes that
//     know their row, which mask them and turn them into probabilities. These overwrite the warp's rows of Q's tile and
//     are loaded as the next product's A. A barrier of the warp orders this; none of the CTA does.
//   * O stays in fragments. To scale its rows, the factors are written as a matrix, each row filled with its factor,
//     and loaded as a fragment of O's kind: the two then match element by element. Most tiles of a long row raise no
//     maximum and skip it.
//
// What WMMA demands: a fragment's address is a multiple of 32 bytes and its leading dimension a multiple of 16. With
// rows of HEAD_DIM halves every row starts at the same bank. PAD 8 shifts each row by four banks and keeps both
// demands; PAD 4 shifts too and breaks them: "misaligned address", or wrong sums where the hardware takes it. An XOR
// swizzle, which needs no room, is impossible: a fragment's rows lie one leading dimension apart. Shape 32x8x16 takes V
// in columns of 8, 16 bytes, so there V lies in panels of 8 columns.
//
// What it gained: several times the scalar rung's speed, as the times below say. What disappointed: scores and
// probabilities go through shared memory and back, which the next rung's registers save.
//
// Times, us, hot, measured on an H200, each rung at its best config (bench/results/ladder_h200.json):
//             B1 H8 S512 D64    B32 H8 S512 D64    B4 H16 S4096 D64    B4 H16 S4096 D128
//   scalar              26.6                462               7,632               15,485
//   wmma                14.8                112               1,518                2,833
//
// Times, us, hot, modelled for an L4, each rung at its best config (bench/results/ladder_l4_modelled.json):
//             B1 H8 S512 D64    B32 H8 S512 D64
//   scalar              48.7                988
//   wmma                17.0                264
//
// Map, in reading order, with the knobs that change each piece:
//   Sizes      a warp's rows, fragments, steps                        BLOCK_M BLOCK_N NUM_WARPS WMMA_SHAPE ACCUMULATE
//   Tiles      how V and the scratch lie in shared memory             PAD WMMA_SHAPE TENSOR_OPS
//   Mask       visible_keys(): the keys that a row sees
//   Load       copy_tile(): global to shared memory by cp.async       STAGES
//   Scores     score(): scratch = Q·K^T of a key tile
//   Softmax    Softmax: masked scores to probabilities, by lanes that own rows
//   Output     FragmentOutput: O += P·V on the Tensor Cores           TENSOR_OPS qk_pv
//              RegisterOutput: the same on the FP32 pipe              TENSOR_OPS qk
//   Epilogue   divide_and_store(): O by way of the scratch to global memory
//   Kernel     attention_wmma(): the loop over key tiles              STAGES
//
// Layout: q, o are [batch][heads][seq_q][HEAD_DIM], k, v are [batch][kv_heads][seq_k][HEAD_DIM], row-major, 16-byte
// aligned. Grid (ceil(seq_q / BLOCK_M), heads, batch), 32·NUM_WARPS threads.
#include <cuda_fp16.h>
#include <mma.h>

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
#define BLOCK_M 64
#endif
#ifndef BLOCK_N  // keys a tile
#define BLOCK_N 32
#endif
#ifndef NUM_WARPS
#define NUM_WARPS 4
#endif
#ifndef TENSOR_OPS  // 1 qk: Q·K^T on Tensor Cores; 2 qk_pv: P·V too
#define TENSOR_OPS 2
#endif
#ifndef WMMA_SHAPE  // rows of a fragment: 16 is 16x16x16, 32 is 32x8x16, 8 is 8x32x16
#define WMMA_SHAPE 16
#endif
#ifndef ACCUMULATE  // bits: 16 keeps scores and O in halves, at half the registers and half the scratch
#define ACCUMULATE 32
#endif
#ifndef STAGES  // K/V tiles in shared memory or on the way
#define STAGES 2
#endif
#ifndef PAD  // halves behind each tile row
#define PAD 8
#endif

#define UNROLL _Pragma("unroll")  // register arrays need it: their indices become constants

namespace {

namespace wmma = nvcuda::wmma;

// ---- Sizes ----------------------------------------------------------------------------------------------------------

constexpr int kThreads = 32 * NUM_WARPS;
constexpr int kM = WMMA_SHAPE, kN = 256 / WMMA_SHAPE, kK = 16;  // a fragment's rows, columns, depth
constexpr int kRows = BLOCK_M / NUM_WARPS;                      // query rows a warp
constexpr int kRowTiles = kRows / kM, kKeyTiles = BLOCK_N / kN;
constexpr int kDepth = HEAD_DIM / kK;    // steps over a row of Q and K
constexpr int kStride = HEAD_DIM + PAD;  // halves from a row of Q, P or K to the next
constexpr int kChunks = HEAD_DIM / 8;    // 16-byte chunks a row
constexpr unsigned kFullWarp = 0xffffffffu;
constexpr float kLog2e = 1.4426950408889634f;
static_assert(kRows * NUM_WARPS == BLOCK_M && kRowTiles * kM == kRows && kRowTiles >= 1 && (kRows & (kRows - 1)) == 0);
static_assert(kStride % 8 == 0, "WMMA's leading dimension");
static_assert(BLOCK_N <= HEAD_DIM && kKeyTiles * kN == BLOCK_N && BLOCK_N % 32 == 0);

template <bool kFirst, class First, class Second>
struct Either {
  using Type = First;
};
template <class First, class Second>
struct Either<false, First, Second> {
  using Type = Second;
};

using Sum = Either<ACCUMULATE == 16, half, float>::Type;
using A = wmma::fragment<wmma::matrix_a, kM, kN, kK, half, wmma::row_major>;
using KeyB = wmma::fragment<wmma::matrix_b, kM, kN, kK, half, wmma::col_major>;  // K^T: a key is a column
using ValueB = wmma::fragment<wmma::matrix_b, kM, kN, kK, half, wmma::row_major>;
using C = wmma::fragment<wmma::accumulator, kM, kN, kK, Sum>;

// ---- Tiles ----------------------------------------------------------------------------------------------------------

// V: rows like K's; for fragments 8 columns wide, panels of 8 columns whose rows are 16 bytes.
constexpr bool kPanels = kN == 8 && TENSOR_OPS == 2;
constexpr int kPanelStride = BLOCK_N * 8 + 16;  // halves from a panel to the next: 32 bytes apart, as fragments must be
constexpr int kValueHalves = kPanels ? kChunks * kPanelStride : BLOCK_N * kStride;  // a V tile

// A warp's scratch: kRows by BLOCK_N. 8 elements of padding let lanes that own rows read without conflict. Fragments of
// 8 columns of halves stand 32 bytes apart.
constexpr int kTilePitch = kN * sizeof(Sum) < 32 ? 32 / sizeof(Sum) : kN;  // elements from a fragment to the next
constexpr int kScratchStride = kKeyTiles * kTilePitch + 8;
__device__ __forceinline__ int scratch_at(int row, int column) {
  return row * kScratchStride + column / kN * kTilePitch + column % kN;
}

// Which lanes own a row in the softmax, and which four keys at a time.
constexpr int kRowLanes = kRows < 32 ? kRows : 32;  // rows side by side over a warp
constexpr int kParts = 32 / kRowLanes;              // lanes a row
constexpr int kPasses = kRows / kRowLanes;          // rows a lane
constexpr int kQuads = BLOCK_N / 4 / kParts;        // groups of four keys a lane
__device__ __forceinline__ int row_of(int lane, int pass) { return lane / kParts + pass * kRowLanes; }
__device__ __forceinline__ int quad_of(int lane, int i) {
  // One lane a row: rows four apart would meet in a bank, so they take neighbouring groups in the other order.
  return kParts > 1 ? i * kParts + lane % kParts : i ^ ((lane >> 2 ^ lane >> 3) & 1);
}

// Four elements side by side, of either kind of sum, as floats.
[[maybe_unused]] __device__ __forceinline__ float4 load_quad(const float* from) {
  return *reinterpret_cast<const float4*>(from);
}
[[maybe_unused]] __device__ __forceinline__ float4 load_quad(const half* from) {
  const uint2 bits = *reinterpret_cast<const uint2*>(from);
  const float2 low = __half22float2(*reinterpret_cast<const half2*>(&bits.x));
  const float2 high = __half22float2(*reinterpret_cast<const half2*>(&bits.y));
  return make_float4(low.x, low.y, high.x, high.y);
}
[[maybe_unused]] __device__ __forceinline__ void store_quad(float* to, float4 value) {
  *reinterpret_cast<float4*>(to) = value;
}
[[maybe_unused]] __device__ __forceinline__ void store_quad(half* to, float4 value) {
  const half2 low = __floats2half2_rn(value.x, value.y), high = __floats2half2_rn(value.z, value.w);
  *reinterpret_cast<uint2*>(to) =
      make_uint2(*reinterpret_cast<const unsigned*>(&low), *reinterpret_cast<const unsigned*>(&high));
}

// ---- Mask -----------------------------------------------------------------------------------------------------------

__device__ __forceinline__ float minus_infinity() { return __int_as_float(0xff800000); }

// Largest key, exclusive, that a query row may see.
__device__ __forceinline__ int visible_keys(int row, int seq_q, int seq_k) {
  if constexpr (CAUSAL == 1) return min(row + 1, seq_k);
  if constexpr (CAUSAL == 2) return max(0, min(row + 1 + seq_k - seq_q, seq_k));
  return seq_k;
}

// ---- Load -----------------------------------------------------------------------------------------------------------

// 16 bytes from global to shared memory without a register between; zeros where `there` is false.
__device__ __forceinline__ void copy_async(half* to, const half* from, bool there) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(there ? 16 : 0)
               : "memory");
}
// Copies are awaited in groups: all since the last commit are one.
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kPending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// Starts copying kRowsOfTile rows from row `first` of a [rows][HEAD_DIM] tensor; rows past the end become zeros.
template <int kRowsOfTile, bool kInPanels>
__device__ __forceinline__ void copy_tile(half* tile, const half* tensor, int first, int rows) {
  UNROLL
  for (int i = threadIdx.x; i < kRowsOfTile * kChunks; i += kThreads) {
    const int row = i / kChunks, chunk = i % kChunks;
    const bool there = first + row < rows;
    half* to = tile + (kInPanels ? chunk * kPanelStride + row * 8 : row * kStride + chunk * 8);
    copy_async(to, tensor + (size_t)(there ? first + row : 0) * HEAD_DIM + chunk * 8, there);
  }
}

// ---- Scores ---------------------------------------------------------------------------------------------------------

// scratch = Q·K^T, unscaled, for the warp's rows and one tile of keys.
__device__ __forceinline__ void score(Sum* scratch, const A (&q)[kRowTiles][kDepth], const half* K_tile) {
  C s[kRowTiles][kKeyTiles];
  UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    UNROLL
    for (int n = 0; n < kKeyTiles; ++n) wmma::fill_fragment(s[m][n], Sum(0.0f));
  }
  UNROLL
  for (int depth = 0; depth < kDepth; ++depth) {
    UNROLL
    for (int n = 0; n < kKeyTiles; ++n) {
      KeyB k;
      wmma::load_matrix_sync(k, K_tile + n * kN * kStride + depth * kK, kStride);
      UNROLL
      for (int m = 0; m < kRowTiles; ++m) wmma::mma_sync(s[m][n], q[m][depth], k, s[m][n]);
    }
  }
  UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    UNROLL
    for (int n = 0; n < kKeyTiles; ++n)
      wmma::store_matrix_sync(scratch + scratch_at(m * kM, n * kN), s[m][n], kScratchStride, wmma::mem_row_major);
  }
}

// ---- Softmax --------------------------------------------------------------------------------------------------------

// Over the lanes that share a row.
__device__ __forceinline__ float row_max(float value) {
  UNROLL
  for (int step = 1; step < kParts; step *= 2) value = fmaxf(value, __shfl_xor_sync(kFullWarp, value, step));
  return value;
}
__device__ __forceinline__ float row_sum(float value) {
  UNROLL
  for (int step = 1; step < kParts; step *= 2) value += __shfl_xor_sync(kFullWarp, value, step);
  return value;
}

// What a lane keeps of its rows.
struct Softmax {
  float max[kPasses];  // of the scores times scale·log2(e)
  float sum[kPasses];  // of this lane's keys only

  // Turns the scratch's scores into probabilities: halves in P_tile, or fp32 in place (TENSOR_OPS qk). factors: what to
  // multiply all that was summed under the old maximum by. Returns whether any row's maximum rose.
  __device__ __forceinline__ bool probabilities(Sum* scratch, half* P_tile, float (&factors)[kPasses], int lane,
                                                int first_row, int first_key, int seq_q, int seq_k, float scale_log2,
                                                bool masked) {
    bool raised = false;
    UNROLL
    for (int pass = 0; pass < kPasses; ++pass) {
      const int row = row_of(lane, pass);
      const int visible = visible_keys(first_row + row, seq_q, seq_k) - first_key;
      float4 s[kQuads];
      float tile_max = minus_infinity();
      UNROLL
      for (int i = 0; i < kQuads; ++i) {
        const int key = 4 * quad_of(lane, i);
        s[i] = load_quad(scratch + scratch_at(row, key));
        s[i] = make_float4(s[i].x * scale_log2, s[i].y * scale_log2, s[i].z * scale_log2, s[i].w * scale_log2);
        if (masked) {
          if (key >= visible) s[i].x = minus_infinity();
          if (key + 1 >= visible) s[i].y = minus_infinity();
          if (key + 2 >= visible) s[i].z = minus_infinity();
          if (key + 3 >= visible) s[i].w = minus_infinity();
        }
        tile_max = fmaxf(tile_max, fmaxf(fmaxf(s[i].x, s[i].y), fmaxf(s[i].z, s[i].w)));
      }
      const float new_max = fmaxf(max[pass], row_max(tile_max));
      const float base = new_max == minus_infinity() ? 0.0f : new_max;  // all masked so far: 2^(-inf - 0) = 0
      factors[pass] = exp2f(max[pass] - base);
      raised |= new_max > max[pass];
      max[pass] = new_max;
      sum[pass] *= factors[pass];
      UNROLL
      for (int i = 0; i < kQuads; ++i) {
        const int key = 4 * quad_of(lane, i);
        const float4 p =
            make_float4(exp2f(s[i].x - base), exp2f(s[i].y - base), exp2f(s[i].z - base), exp2f(s[i].w - base));
        sum[pass] += (p.x + p.y) + (p.z + p.w);
        if constexpr (TENSOR_OPS == 2)
          store_quad(P_tile + row * kStride + key, p);
        else
          store_quad(scratch + scratch_at(row, key), p);
      }
    }
    return __any_sync(kFullWarp, raised);
  }
};

// ---- Output ---------------------------------------------------------------------------------------------------------

// Both are templates so that the compiler does not warn of the one that is not used.

// TENSOR_OPS qk_pv: O, not yet divided by the row's sum, as fragments.
template <int kColumns>
struct FragmentOutput {
  static constexpr int kOutTiles = kColumns / kN;
  C out[kRowTiles][kOutTiles];

  __device__ __forceinline__ void clear() {
    UNROLL
    for (int m = 0; m < kRowTiles; ++m) {
      UNROLL
      for (int n = 0; n < kOutTiles; ++n) wmma::fill_fragment(out[m][n], Sum(0.0f));
    }
  }

  // Every row times its factor: a matrix whose rows hold nothing else, loaded as a fragment of the same kind.
  __device__ __forceinline__ void rescale(Sum* scratch, const float (&factors)[kPasses], int lane) {
    UNROLL
    for (int pass = 0; pass < kPasses; ++pass) {
      const float4 factor = make_float4(factors[pass], factors[pass], factors[pass], factors[pass]);
      UNROLL
      for (int quad = lane % kParts; quad < kN / 4; quad += kParts)
        store_quad(scratch + scratch_at(row_of(lane, pass), 4 * quad), factor);
    }
    __syncwarp();
    UNROLL
    for (int m = 0; m < kRowTiles; ++m) {
      C factor;
      wmma::load_matrix_sync(factor, scratch + scratch_at(m * kM, 0), kScratchStride, wmma::mem_row_major);
      UNROLL
      for (int n = 0; n < kOutTiles; ++n) {
        UNROLL
        for (int x = 0; x < factor.num_elements; ++x) out[m][n].x[x] = out[m][n].x[x] * factor.x[x];
      }
    }
  }

  // += P·V for one tile of keys.
  __device__ __forceinline__ void accumulate(const half* P_tile, const Sum*, const half* V_tile, int) {
    UNROLL
    for (int key = 0; key < BLOCK_N / kK; ++key) {
      A p[kRowTiles];
      UNROLL
      for (int m = 0; m < kRowTiles; ++m) wmma::load_matrix_sync(p[m], P_tile + m * kM * kStride + key * kK, kStride);
      UNROLL
      for (int n = 0; n < kOutTiles; ++n) {
        ValueB v;
        if constexpr (kPanels)
          wmma::load_matrix_sync(v, V_tile + n * kPanelStride + key * kK * 8, 8);
        else
          wmma::load_matrix_sync(v, V_tile + key * kK * kStride + n * kN, kStride);
        UNROLL
        for (int m = 0; m < kRowTiles; ++m) wmma::mma_sync(out[m][n], p[m], v, out[m][n]);
      }
    }
  }

  // BLOCK_N columns from first_column on into the scratch.
  __device__ __forceinline__ void put(Sum* scratch, int first_column, int) const {
    UNROLL
    for (int m = 0; m < kRowTiles; ++m) {
      UNROLL
      for (int n = 0; n < kOutTiles; ++n)
        if (n * kN >= first_column && n * kN < first_column + BLOCK_N)
          wmma::store_matrix_sync(scratch + scratch_at(m * kM, n * kN - first_column), out[m][n], kScratchStride,
                                  wmma::mem_row_major);
    }
  }
};

// TENSOR_OPS qk: the same in plain registers, so that each product's share can be seen. A lane's rows are lane / 8 and
// every fourth after it; its columns are 8·(lane % 8), the seven behind, and the same 64 further.
template <int kColumns>
struct RegisterOutput {
  static constexpr int kOwnRows = kRows / 4, kOwnChunks = kColumns / 64;
  float out[kOwnRows][kOwnChunks][8];

  __device__ __forceinline__ void clear() {
    UNROLL
    for (int i = 0; i < kOwnRows; ++i) {
      UNROLL
      for (int c = 0; c < kOwnChunks; ++c) {
        UNROLL
        for (int x = 0; x < 8; ++x) out[i][c][x] = 0.0f;
      }
    }
  }

  __device__ __forceinline__ void rescale(Sum*, const float (&factors)[kPasses], int lane) {
    UNROLL
    for (int i = 0; i < kOwnRows; ++i) {
      const int row = lane / 8 + i * 4;
      const float factor = __shfl_sync(kFullWarp, factors[i * 4 / kRowLanes], row % kRowLanes * kParts);
      UNROLL
      for (int c = 0; c < kOwnChunks; ++c) {
        UNROLL
        for (int x = 0; x < 8; ++x) out[i][c][x] *= factor;
      }
    }
  }

  __device__ __forceinline__ void accumulate(const half*, const Sum* scratch, const half* V_tile, int lane) {
#pragma unroll 2
    for (int key = 0; key < BLOCK_N; key += 4) {
      float4 p[kOwnRows];
      UNROLL
      for (int i = 0; i < kOwnRows; ++i) p[i] = load_quad(scratch + scratch_at(lane / 8 + i * 4, key));
      UNROLL
      for (int part = 0; part < 4; ++part) {
        UNROLL
        for (int c = 0; c < kOwnChunks; ++c) {
          const half* v_row = V_tile + (key + part) * kStride + c * 64 + lane % 8 * 8;
          const uint4 bits = *reinterpret_cast<const uint4*>(v_row);
          const half* v = reinterpret_cast<const half*>(&bits);
          UNROLL
          for (int i = 0; i < kOwnRows; ++i) {
            const float weight = part == 0 ? p[i].x : part == 1 ? p[i].y : part == 2 ? p[i].z : p[i].w;
            UNROLL
            for (int x = 0; x < 8; ++x) out[i][c][x] = fmaf(weight, float(v[x]), out[i][c][x]);
          }
        }
      }
    }
  }

  __device__ __forceinline__ void put(Sum* scratch, int first_column, int lane) const {
    UNROLL
    for (int i = 0; i < kOwnRows; ++i) {
      UNROLL
      for (int c = 0; c < kOwnChunks; ++c) {
        const int column = c * 64 + lane % 8 * 8 - first_column;
        if (column < 0 || column >= BLOCK_N) continue;
        const float(&x)[8] = out[i][c];
        store_quad(scratch + scratch_at(lane / 8 + i * 4, column), make_float4(x[0], x[1], x[2], x[3]));
        store_quad(scratch + scratch_at(lane / 8 + i * 4, column + 4), make_float4(x[4], x[5], x[6], x[7]));
      }
    }
  }
};

using Output = Either<TENSOR_OPS == 2, FragmentOutput<HEAD_DIM>, RegisterOutput<HEAD_DIM>>::Type;

// ---- Epilogue -------------------------------------------------------------------------------------------------------

// Divides O by the rows' sums and stores it, BLOCK_N columns at a time by way of the scratch, a row in 16-byte pieces
// side by side. The rows' factors pass from the lanes that own the rows through the warp's place in Q's tile.
__device__ __forceinline__ void divide_and_store(ATTN_T* o, size_t head, const Output& output, const Softmax& rows,
                                                 half* P_tile, Sum* scratch, int warp_row, int seq_q, int seq_k,
                                                 int lane) {
  float* inverses = reinterpret_cast<float*>(P_tile);
  UNROLL
  for (int pass = 0; pass < kPasses; ++pass) {
    const float sum = row_sum(rows.sum[pass]);
    const int row = row_of(lane, pass);
    // A row that sees no key is 0. One that sees keys and whose scores are all -infinity is 0/0, as in the formula.
    if (lane % kParts == 0) inverses[row] = visible_keys(warp_row + row, seq_q, seq_k) > 0 ? 1.0f / sum : 0.0f;
  }
  ATTN_T* o_rows = o + (head * seq_q + warp_row) * HEAD_DIM;
  UNROLL
  for (int first_column = 0; first_column < HEAD_DIM; first_column += BLOCK_N) {
    __syncwarp();
    output.put(scratch, first_column, lane);
    __syncwarp();
    UNROLL
    for (int i = lane; i < kRows * BLOCK_N / 8; i += 32) {
      const int row = i / (BLOCK_N / 8), column = i % (BLOCK_N / 8) * 8;
      const float inverse = inverses[row];
      float4 low = load_quad(scratch + scratch_at(row, column));
      float4 high = load_quad(scratch + scratch_at(row, column + 4));
      low = make_float4(low.x * inverse, low.y * inverse, low.z * inverse, low.w * inverse);
      high = make_float4(high.x * inverse, high.y * inverse, high.z * inverse, high.w * inverse);
      __align__(16) half values[8];
      store_quad(values, low);
      store_quad(values + 4, high);
      if (warp_row + row < seq_q)
        *reinterpret_cast<uint4*>(o_rows + (size_t)row * HEAD_DIM + first_column + column) =
            *reinterpret_cast<const uint4*>(values);
    }
  }
}

}  // namespace

// ---- Kernel ---------------------------------------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(32 * NUM_WARPS, 1)
    attention_wmma(const ATTN_T* __restrict__ q, const ATTN_T* __restrict__ k, const ATTN_T* __restrict__ v,
                   ATTN_T* __restrict__ o, float scale, int batch, int heads, int kv_heads, int seq_q, int seq_k) {
  extern __shared__ __align__(128) unsigned char shared[];
  half* Q_tile = reinterpret_cast<half*>(shared);                            // [BLOCK_M][kStride]; then P
  half* K_tiles = Q_tile + BLOCK_M * kStride;                                // [STAGES][BLOCK_N][kStride]
  half* V_tiles = K_tiles + STAGES * BLOCK_N * kStride;                      // [STAGES], kValueHalves each
  Sum* scratches = reinterpret_cast<Sum*>(V_tiles + STAGES * kValueHalves);  // [NUM_WARPS][kRows][kScratchStride]

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int first_row = blockIdx.x * BLOCK_M;
  const int warp_row = first_row + warp * kRows;
  half* P_tile = Q_tile + warp * kRows * kStride;  // the warp's own rows
  Sum* scratch = scratches + warp * kRows * kScratchStride;
  const size_t head = (size_t)blockIdx.z * heads + blockIdx.y;
  const size_t kv_head = (size_t)blockIdx.z * kv_heads + blockIdx.y / ((unsigned)heads / (unsigned)kv_heads);
  const half* k_head = k + kv_head * seq_k * HEAD_DIM;
  const half* v_head = v + kv_head * seq_k * HEAD_DIM;
  const float scale_log2 = scale * kLog2e;
  const int keys = visible_keys(min(first_row + BLOCK_M, seq_q) - 1, seq_q, seq_k);  // no row here sees later ones
  const int warp_keys = visible_keys(min(warp_row + kRows, seq_q) - 1, seq_q, seq_k);
  const int whole_keys = visible_keys(warp_row, seq_q, seq_k);  // every row of the warp sees these

  const auto copy_stage = [&](int first_key) {
    const int stage = first_key / BLOCK_N % STAGES;
    if (first_key < keys) {
      copy_tile<BLOCK_N, false>(K_tiles + stage * BLOCK_N * kStride, k_head, first_key, seq_k);
      copy_tile<BLOCK_N, kPanels>(V_tiles + stage * kValueHalves, v_head, first_key, seq_k);
    }
    commit_copies();  // also where nothing was copied: groups are counted
  };

  // Q, and the first stages of K and V behind it.
  copy_tile<BLOCK_M, false>(Q_tile, q + head * seq_q * HEAD_DIM, first_row, seq_q);
  commit_copies();
  UNROLL
  for (int stage = 0; stage < STAGES - 1; ++stage) copy_stage(stage * BLOCK_N);
  wait_for_copies<STAGES - 1>();
  __syncthreads();
  A q_fragments[kRowTiles][kDepth];
  UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    UNROLL
    for (int depth = 0; depth < kDepth; ++depth)
      wmma::load_matrix_sync(q_fragments[m][depth], P_tile + m * kM * kStride + depth * kK, kStride);
  }

  Softmax rows;
  UNROLL
  for (int pass = 0; pass < kPasses; ++pass) rows.max[pass] = minus_infinity(), rows.sum[pass] = 0.0f;
  Output output;
  output.clear();

  for (int first_key = 0; first_key < keys; first_key += BLOCK_N) {
    if constexpr (STAGES == 1) {
      __syncthreads();  // every warp has read the tiles before
      copy_stage(first_key);
      wait_for_copies<0>();
      __syncthreads();
    } else {
      wait_for_copies<STAGES - 2>();
      __syncthreads();  // this tile is here for every warp, and every warp has read the one that is copied over next
      copy_stage(first_key + (STAGES - 1) * BLOCK_N);
    }
    if (first_key >= warp_keys) continue;
    const int stage = first_key / BLOCK_N % STAGES;
    const half* V_tile = V_tiles + stage * kValueHalves;
    score(scratch, q_fragments, K_tiles + stage * BLOCK_N * kStride);
    __syncwarp();
    float factors[kPasses];
    const bool raised = rows.probabilities(scratch, P_tile, factors, lane, warp_row, first_key, seq_q, seq_k,
                                           scale_log2, first_key + BLOCK_N > whole_keys);
    __syncwarp();  // the scratch is read, the probabilities are written
    if (raised) output.rescale(scratch, factors, lane);
    output.accumulate(P_tile, scratch, V_tile, lane);
    __syncwarp();  // the scratch and P may be written again
  }
  wait_for_copies<0>();
  divide_and_store(o, head, output, rows, P_tile, scratch, warp_row, seq_q, seq_k, lane);
}
