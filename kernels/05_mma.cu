// Rung 5: mma. Both products on the Tensor Cores by mma.sync m16n8k16; the softmax and P stay in registers.
//
// What changed: a warp owns 16 or 32 query rows. It holds their Q fragments, the scores of one key tile and O in
// registers. K and V come from global memory by cp.async, which passes no register, and from shared memory by ldmatrix,
// four 8x8 matrices an instruction. The accumulator of the scores has the layout that the next product wants for its A
// operand, so P is packed to 16 bits where it stands. wmma hides this layout and pays with a trip through shared
// memory. Under a causal mask a CTA fetches no key tile that none of its rows sees and masks only the tiles on the
// diagonal.
//
// What it gained: it is faster than wmma and FlashAttention-2 at every size below, and than cuDNN at the first. What
// paid most was not a Tensor Core instruction but fewer instructions around it: one address a thread serves all copies
// of a tile, and one serves all ldmatrix of a lane. What disappointed: on long sequences cuDNN is ahead. Its kernels
// for Hopper use wgmma; mma.sync does not keep Hopper's Tensor Cores busy.
//
// Times, us, hot, measured on an H200, each rung at its best config (bench/results/ladder_h200.json):
//                  B1 H8 S512 D64    B4 H16 S4096 D64    B4 H16 S4096 D128
//   scalar                   26.6               7,632               15,485
//   wmma                     14.8               1,518                2,833
//   mma                      5.10                 771                1,426
//   torch flash              10.1                 916                1,578
//   torch cudnn              9.08                 576                  845
//
// Map, in reading order, with the knobs that change each piece:
//   Sizes      what follows from the knobs: a warp's rows, tiles, steps        BLOCK_M BLOCK_N NUM_WARPS SPLIT_KEYS
//   Mask       visible_keys(): the keys that a row sees; the CTA's first row
//   Load       chunk_at(): a tile's layout in shared memory                    SWIZZLE_XOR
//              copy_tile(): global to shared memory by cp.async                STAGES
//              LaneAddress, load_matrices(): shared memory to registers by ldmatrix
//   Products   multiply(), multiply_add(): one mma.sync
//   Scores     score(): S = Q·K^T of a key tile; mask()                        Q_REGS
//   Softmax    raise_max(): the rows' maxima, and what stood under older ones scaled down
//   Output     accumulate(): P = exp(S - max), O += P·V
//   Epilogue   finish_rows(); combine(): the groups' parts become one          SPLIT_KEYS
//              store(): O divided, to global memory
//   Kernel     attention_mma(): the loop over key tiles                        STAGES Q_REGS SPLIT_KEYS
//
// Layout: q, o are [batch][heads][seq_q][HEAD_DIM], k, v are [batch][kv_heads][seq_k][HEAD_DIM], row-major, 16-byte
// aligned. Grid (ceil(seq_q / BLOCK_M), heads, batch), 32·NUM_WARPS threads.

// The knobs' and the problem's values come as macros; these are for compiling the file by hand.
#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif
#ifndef CAUSAL  // 0 none, 1 top_left, 2 bottom_right
#define CAUSAL 0
#endif
#ifndef DTYPE  // 0 f16, 1 bf16
#define DTYPE 0
#endif
#ifndef ATTN_T
#define ATTN_T half
#endif
#ifndef BLOCK_M  // query rows a CTA
#define BLOCK_M 32
#endif
#ifndef BLOCK_N  // keys a tile of one group of warps
#define BLOCK_N 32
#endif
#ifndef NUM_WARPS
#define NUM_WARPS 4
#endif
#ifndef SPLIT_KEYS  // groups of warps that share the rows, each with its own keys
#define SPLIT_KEYS 2
#endif
#ifndef STAGES  // K/V tiles in shared memory or on the way
#define STAGES 2
#endif
#ifndef SWIZZLE_XOR
#define SWIZZLE_XOR 1
#endif
#ifndef Q_REGS  // 1: Q's fragments are kept; 0: read from shared memory for every key tile
#define Q_REGS 1
#endif

#if DTYPE == 1
#include <cuda_bf16.h>
#define MMA_OPERANDS "bf16.bf16"
#define ROUND_PAIR __floats2bfloat162_rn
#else
#include <cuda_fp16.h>
#define MMA_OPERANDS "f16.f16"
#define ROUND_PAIR __floats2half2_rn
#endif

#define UNROLL _Pragma("unroll")  // register arrays need it: their indices become constants

namespace {

// ---- Sizes ----------------------------------------------------------------------------------------------------------

constexpr int kThreads = 32 * NUM_WARPS;
constexpr int kRowWarps = NUM_WARPS / SPLIT_KEYS;      // warps side by side over the query rows
constexpr int kRowTiles = BLOCK_M / (16 * kRowWarps);  // tiles of 16 rows a warp
constexpr int kWarpRows = kRowTiles * 16;
constexpr int kStageKeys = BLOCK_N * SPLIT_KEYS;  // keys of a stage in shared memory, BLOCK_N a group of warps
constexpr int kChunks = HEAD_DIM / 8;             // 16-byte chunks a row
constexpr int kDepth = HEAD_DIM / 16;             // mma steps over a row of Q and K
constexpr int kKeyTiles = BLOCK_N / 8;            // mma tiles over the keys
constexpr int kOutTiles = HEAD_DIM / 8;           // mma tiles over the columns of O
constexpr unsigned kFullWarp = 0xffffffffu;
constexpr float kLog2e = 1.4426950408889634f;
static_assert(kRowWarps * SPLIT_KEYS == NUM_WARPS && kWarpRows * kRowWarps == BLOCK_M && kRowTiles >= 1);
static_assert(HEAD_DIM % 32 == 0 && BLOCK_N % 16 == 0);

// What a warp keeps of its rows. Each tile of 16 rows has two rows a thread: l / 4 and l / 4 + 8, for lane l.
struct Rows {
  float out[kRowTiles][kOutTiles][4];  // not yet divided by the row's sum
  float max[kRowTiles][2];             // of the scores, unscaled
  float sum[kRowTiles][2];             // of this thread's keys, until finish_rows()
};
using Scores = float[kRowTiles][kKeyTiles][4];
using QFragments = unsigned[kRowTiles][kDepth][4];
using Bases = float[kRowTiles][2];  // what the rows' exponents are relative to

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

// ---- Load: global to shared memory ----------------------------------------------------------------------------------

// How a row's 16-byte chunks are permuted. The eight rows that one phase of ldmatrix reads then lie in all 32 banks;
// without a swizzle they lie in four. A row of 96 elements is 12 chunks and an odd row begins at bank 16: there the
// chunks move within groups of four, by half the row's number.
__device__ __forceinline__ int swizzle_of(int row) {
  if (!SWIZZLE_XOR) return 0;
  return HEAD_DIM % 64 == 0 ? row & 7 : (row >> 1) & 3;
}

// Where a row's chunk lies in a tile, in elements.
__device__ __forceinline__ int chunk_at(int row, int chunk) { return row * HEAD_DIM + (chunk ^ swizzle_of(row)) * 8; }

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// 16 bytes from global to shared memory without a register between.
__device__ __forceinline__ void copy_async(ATTN_T* to, const ATTN_T* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
// The same; zeros where `there` is false.
__device__ __forceinline__ void copy_async(ATTN_T* to, const ATTN_T* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(there ? 16 : 0)
               : "memory");
}
// Copies are awaited in groups: all since the last commit are one.
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kPending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// Starts copying kRows rows from row `first` of a [rows][HEAD_DIM] tensor; rows past the end become zeros. A thread's
// chunks of a whole tile lie in one column and have the same swizzle: two addresses, and constants from them.
template <int kRows>
__device__ __forceinline__ void copy_tile(ATTN_T* tile, const ATTN_T* tensor, int first, int rows) {
  constexpr int kStep = kThreads / kChunks;  // rows from a thread's chunk to its next
  if (kThreads % kChunks == 0 && kStep % 8 == 0 && kRows % kStep == 0 && first + kRows <= rows) {
    const int row = threadIdx.x / kChunks, chunk = threadIdx.x % kChunks;
    ATTN_T* to = tile + chunk_at(row, chunk);
    const ATTN_T* from = tensor + (size_t)first * HEAD_DIM + (row * HEAD_DIM + chunk * 8);
    UNROLL
    for (int i = 0; i < kRows / kStep; ++i) copy_async(to + i * kStep * HEAD_DIM, from + i * kStep * HEAD_DIM);
    return;
  }
#pragma unroll 1
  for (int i = threadIdx.x; i < kRows * kChunks; i += kThreads) {
    const int row = i / kChunks, chunk = i % kChunks;
    const bool there = first + row < rows;
    copy_async(tile + chunk_at(row, chunk), tensor + (size_t)(there ? first + row : 0) * HEAD_DIM + chunk * 8, there);
  }
}

// ---- Load: shared memory to registers -------------------------------------------------------------------------------

// Where a lane reads with ldmatrix: its row, and a chunk that moves by two from one step to the next. The row's swizzle
// and the step are XORed onto the chunk, so that a step costs one instruction or none. The distance to further rows is
// a constant that the instruction itself adds. All in bytes of shared memory.
struct LaneAddress {
  unsigned row, chunk;
  __device__ __forceinline__ LaneAddress(unsigned tile, int lane_row, int lane_chunk)
      : row(tile + lane_row * HEAD_DIM * 2), chunk((lane_chunk ^ swizzle_of(lane_row)) * 16) {}
  __device__ __forceinline__ unsigned at(int step, int rows_further) const {
    if constexpr (HEAD_DIM % 64 == 0)  // a row begins where the bits of a chunk are zero
      return ((row | chunk) ^ (step * 32)) + rows_further * HEAD_DIM * 2;
    else
      return row + (chunk ^ (step * 32)) + rows_further * HEAD_DIM * 2;
  }
};

// Four 8x8 matrices. Lane l gives the address of row l % 8 of matrix l / 8, and gets two elements of each matrix, those
// at 2·(l % 4) of row l / 4, or of column l / 4 where transposed.
__device__ __forceinline__ void load_matrices(unsigned (&to)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}
__device__ __forceinline__ void load_transposed(unsigned (&to)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

// ---- Products -------------------------------------------------------------------------------------------------------

#define MMA "mma.sync.aligned.m16n8k16.row.col.f32." MMA_OPERANDS ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "

// c[16x8] += a[16x16]·b[16x8]. Lane l has of c rows l / 4 and l / 4 + 8, columns 2·(l % 4) and the next.
__device__ __forceinline__ void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm(MMA "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
// c = a·b, with no register to clear.
__device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm(MMA "{%10, %10, %10, %10};"
      : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(0.0f));
}

// Two floats as two 16-bit elements of an operand.
__device__ __forceinline__ unsigned pack(float low, float high) {
  const auto both = ROUND_PAIR(low, high);
  return *reinterpret_cast<const unsigned*>(&both);
}

// ---- Scores ---------------------------------------------------------------------------------------------------------

// S = Q·K^T, unscaled, for one tile of keys. Q_REGS 0 reads Q's fragments here.
__device__ __forceinline__ void score(Scores& s, QFragments& q, const LaneAddress& Q_rows, const LaneAddress& K_rows) {
  UNROLL
  for (int depth = 0; depth < kDepth; ++depth) {
    if constexpr (!Q_REGS) {
      UNROLL
      for (int m = 0; m < kRowTiles; ++m) load_matrices(q[m][depth], Q_rows.at(depth, m * 16));
    }
    UNROLL
    for (int n = 0; n < kKeyTiles; n += 2) {
      unsigned k[4];  // keys 8n…, depth halves 0 and 1; keys 8n + 8…, the same
      load_matrices(k, K_rows.at(depth, n * 8));
      UNROLL
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
  UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    UNROLL
    for (int half_tile = 0; half_tile < 2; ++half_tile) {
      const int row = first_row + m * 16 + half_tile * 8 + lane / 4;
      const int visible = visible_keys(row, seq_q, seq_k) - first_key - 2 * (lane % 4);
      UNROLL
      for (int n = 0; n < kKeyTiles; ++n) {
        if (n * 8 >= visible) s[m][n][2 * half_tile] = minus_infinity();
        if (n * 8 + 1 >= visible) s[m][n][2 * half_tile + 1] = minus_infinity();
      }
    }
  }
}

// ---- Softmax --------------------------------------------------------------------------------------------------------

__device__ __forceinline__ void clear(Rows& rows) {
  UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    UNROLL
    for (int n = 0; n < kOutTiles; ++n) {
      UNROLL
      for (int x = 0; x < 4; ++x) rows.out[m][n][x] = 0.0f;
    }
    UNROLL
    for (int half_tile = 0; half_tile < 2; ++half_tile) {
      rows.max[m][half_tile] = minus_infinity();
      rows.sum[m][half_tile] = 0.0f;
    }
  }
}

// Raises the rows' maxima to this tile's and scales down what stood under older ones.
__device__ __forceinline__ void raise_max(const Scores& s, Rows& rows, Bases& bases, float scale_log2) {
  bool raised = false;
  float rescale[kRowTiles][2];
  UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    UNROLL
    for (int half_tile = 0; half_tile < 2; ++half_tile) {
      float tile_max = s[m][0][2 * half_tile];
      UNROLL
      for (int n = 0; n < kKeyTiles; ++n)
        tile_max = fmaxf(tile_max, fmaxf(s[m][n][2 * half_tile], s[m][n][2 * half_tile + 1]));
      tile_max = fmaxf(tile_max, __shfl_xor_sync(kFullWarp, tile_max, 1));  // four lanes share a row
      tile_max = fmaxf(tile_max, __shfl_xor_sync(kFullWarp, tile_max, 2));
      const float old_max = rows.max[m][half_tile], new_max = fmaxf(old_max, tile_max);
      const float base = new_max == minus_infinity() ? 0.0f : new_max * scale_log2;  // all masked so far: 2^(-inf) = 0
      rescale[m][half_tile] = exp2f(old_max * scale_log2 - base);
      raised |= new_max > old_max;
      rows.max[m][half_tile] = new_max;
      bases[m][half_tile] = base;
    }
  }
  // Most tiles of a long row raise nothing. Where O is small, multiplying by 1 costs less than a branch.
  if (kRowTiles * kOutTiles > 16 && !__any_sync(kFullWarp, raised)) return;
  UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    UNROLL
    for (int half_tile = 0; half_tile < 2; ++half_tile) {
      rows.sum[m][half_tile] *= rescale[m][half_tile];
      UNROLL
      for (int n = 0; n < kOutTiles; ++n) {
        rows.out[m][n][2 * half_tile] *= rescale[m][half_tile];
        rows.out[m][n][2 * half_tile + 1] *= rescale[m][half_tile];
      }
    }
  }
}

// ---- Output ---------------------------------------------------------------------------------------------------------

// P = exp(S - max), O += P·V, for one tile of keys. It goes by 16 keys, so that the exponentials of one step can run
// beside the products of the step before.
__device__ __forceinline__ void accumulate(Rows& rows, Scores& s, const Bases& bases, float scale_log2,
                                           const LaneAddress& V_rows) {
  UNROLL
  for (int key = 0; key < BLOCK_N / 16; ++key) {
    unsigned p[kRowTiles][4];
    UNROLL
    for (int m = 0; m < kRowTiles; ++m) {
      UNROLL
      for (int part = 0; part < 4; ++part) {  // rows l / 4, l / 4 + 8 of the first 8 keys, then of the others
        const int n = 2 * key + part / 2, x = part % 2 * 2;
        const float low = exp2f(fmaf(s[m][n][x], scale_log2, -bases[m][part % 2]));
        const float high = exp2f(fmaf(s[m][n][x + 1], scale_log2, -bases[m][part % 2]));
        rows.sum[m][part % 2] += low + high;
        p[m][part] = pack(low, high);
      }
    }
    UNROLL
    for (int n = 0; n < kOutTiles; n += 2) {
      unsigned v[4];  // keys 16·key and + 8 of columns 8n…; the same of columns 8n + 8…
      load_transposed(v, V_rows.at(n / 2, key * 16));
      UNROLL
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
  UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    UNROLL
    for (int half_tile = 0; half_tile < 2; ++half_tile) {
      float& sum = rows.sum[m][half_tile];
      sum += __shfl_xor_sync(kFullWarp, sum, 1);
      sum += __shfl_xor_sync(kFullWarp, sum, 2);
      rows.max[m][half_tile] *= scale_log2;
    }
  }
}

// SPLIT_KEYS above 1: the groups' rows, each under its own maximum, become group 0's. The other groups leave theirs in
// `parts`, fp32, kPart floats a warp: a lane's maxima and sums, then O.
__device__ __forceinline__ void combine(Rows& rows, float* parts, int group, int row_warp, int lane) {
  constexpr int kPart = kRowTiles * (kOutTiles * 4 + 4) * 32;
  if (group > 0) {
    float* part = parts + ((group - 1) * kRowWarps + row_warp) * kPart + lane;
    UNROLL
    for (int m = 0; m < kRowTiles; ++m) {
      UNROLL
      for (int half_tile = 0; half_tile < 2; ++half_tile) {
        part[(m * 4 + half_tile * 2) * 32] = rows.max[m][half_tile];
        part[(m * 4 + half_tile * 2 + 1) * 32] = rows.sum[m][half_tile];
      }
      UNROLL
      for (int n = 0; n < kOutTiles; ++n) {
        UNROLL
        for (int x = 0; x < 4; ++x) part[(kRowTiles * 4 + (m * kOutTiles + n) * 4 + x) * 32] = rows.out[m][n][x];
      }
    }
  }
  __syncthreads();
  if (group > 0) return;
  UNROLL
  for (int other = 0; other < SPLIT_KEYS - 1; ++other) {
    const float* part = parts + (other * kRowWarps + row_warp) * kPart + lane;
    UNROLL
    for (int m = 0; m < kRowTiles; ++m) {
      UNROLL
      for (int half_tile = 0; half_tile < 2; ++half_tile) {
        const float its_max = part[(m * 4 + half_tile * 2) * 32];
        const float new_max = fmaxf(rows.max[m][half_tile], its_max);
        const float base = new_max == minus_infinity() ? 0.0f : new_max;
        const float mine = exp2f(rows.max[m][half_tile] - base), its = exp2f(its_max - base);
        rows.max[m][half_tile] = new_max;
        rows.sum[m][half_tile] = rows.sum[m][half_tile] * mine + part[(m * 4 + half_tile * 2 + 1) * 32] * its;
        UNROLL
        for (int n = 0; n < kOutTiles; ++n) {
          UNROLL
          for (int x = 2 * half_tile; x < 2 * half_tile + 2; ++x)
            rows.out[m][n][x] =
                rows.out[m][n][x] * mine + part[(kRowTiles * 4 + (m * kOutTiles + n) * 4 + x) * 32] * its;
        }
      }
    }
  }
}

// Divides O by the rows' sums and stores it by way of the warp's own rows of Q's tile, so that a row leaves in 16-byte
// pieces side by side. A row that saw no key is 0.
__device__ __forceinline__ void store(ATTN_T* o, size_t head, const Rows& rows, ATTN_T* Q_tile, int first_row,
                                      int warp_row, int seq_q, int seq_k, int lane) {
  UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    UNROLL
    for (int half_tile = 0; half_tile < 2; ++half_tile) {
      const int row = first_row + warp_row + m * 16 + half_tile * 8 + lane / 4;
      const float inverse = visible_keys(row, seq_q, seq_k) > 0 ? 1.0f / rows.sum[m][half_tile] : 0.0f;
      UNROLL
      for (int n = 0; n < kOutTiles; ++n) {
        const float(&out)[4] = rows.out[m][n];
        *reinterpret_cast<unsigned*>(Q_tile + chunk_at(warp_row + m * 16 + half_tile * 8 + lane / 4, n) +
                                     lane % 4 * 2) =
            pack(out[2 * half_tile] * inverse, out[2 * half_tile + 1] * inverse);
      }
    }
  }
  __syncwarp();
  ATTN_T* o_rows = o + (head * seq_q + first_row) * HEAD_DIM;
  UNROLL
  for (int i = lane; i < kWarpRows * kChunks; i += 32) {
    const int row = warp_row + i / kChunks, chunk = i % kChunks;
    if (first_row + row < seq_q)
      *reinterpret_cast<uint4*>(o_rows + (size_t)row * HEAD_DIM + chunk * 8) =
          *reinterpret_cast<const uint4*>(Q_tile + chunk_at(row, chunk));
  }
}

}  // namespace

// ---- Kernel ---------------------------------------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(32 * NUM_WARPS, 1)
    attention_mma(const ATTN_T* __restrict__ q, const ATTN_T* __restrict__ k, const ATTN_T* __restrict__ v,
                  ATTN_T* __restrict__ o, float scale, int batch, int heads, int kv_heads, int seq_q, int seq_k) {
  extern __shared__ __align__(256) unsigned char shared[];
  ATTN_T* Q_tile = reinterpret_cast<ATTN_T*>(shared);          // [BLOCK_M][HEAD_DIM]; at the end O
  ATTN_T* K_tiles = Q_tile + BLOCK_M * HEAD_DIM;               // [STAGES][kStageKeys][HEAD_DIM]; at the end the parts
  ATTN_T* V_tiles = K_tiles + STAGES * kStageKeys * HEAD_DIM;  // [STAGES][kStageKeys][HEAD_DIM]

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row_warp = warp % kRowWarps, group = warp / kRowWarps;
  const int warp_row = row_warp * kWarpRows;  // in the tile
  const int first_row = first_row_of_cta();
  const size_t head = (size_t)blockIdx.z * heads + blockIdx.y;
  const size_t kv_head = (size_t)blockIdx.z * kv_heads + blockIdx.y / ((unsigned)heads / (unsigned)kv_heads);
  const ATTN_T* k_head = k + kv_head * seq_k * HEAD_DIM;
  const ATTN_T* v_head = v + kv_head * seq_k * HEAD_DIM;
  const float scale_log2 = scale * kLog2e;
  const int last_row = min(first_row + BLOCK_M, seq_q) - 1;
  const int keys = visible_keys(last_row, seq_q, seq_k);  // later keys are masked for every row of this CTA
  const int stages = (keys + kStageKeys - 1) / kStageKeys;

  const auto copy_stage = [&](int stage) {
    ATTN_T* K_tile = K_tiles + stage % STAGES * kStageKeys * HEAD_DIM;
    ATTN_T* V_tile = V_tiles + stage % STAGES * kStageKeys * HEAD_DIM;
    if (stage < stages) {
      copy_tile<kStageKeys>(K_tile, k_head, stage * kStageKeys, seq_k);
      copy_tile<kStageKeys>(V_tile, v_head, stage * kStageKeys, seq_k);
    }
    commit_copies();  // also where nothing was copied: groups are counted
  };

  // Q, and the first stages of K and V behind it.
  copy_tile<BLOCK_M>(Q_tile, q + head * seq_q * HEAD_DIM, first_row, seq_q);
  commit_copies();
  UNROLL
  for (int stage = 0; stage < STAGES - 1; ++stage) copy_stage(stage);
  wait_for_copies<STAGES - 1>();
  __syncthreads();
  const LaneAddress Q_rows(shared_address(Q_tile), warp_row + lane % 16, lane / 16);
  QFragments q_fragments;
  if constexpr (Q_REGS) {
    UNROLL
    for (int m = 0; m < kRowTiles; ++m) {
      UNROLL
      for (int depth = 0; depth < kDepth; ++depth) load_matrices(q_fragments[m][depth], Q_rows.at(depth, m * 16));
    }
  }

  Rows rows;
  clear(rows);
  for (int stage = 0; stage < stages; ++stage) {
    if constexpr (STAGES == 1) {
      __syncthreads();  // every warp has read the tiles before
      copy_stage(stage);
      wait_for_copies<0>();
      __syncthreads();
    } else {
      wait_for_copies<STAGES - 2>();
      __syncthreads();  // this stage is here for every warp, and every warp has read the stage that is copied over next
      copy_stage(stage + STAGES - 1);
    }
    const int tile_key = group * BLOCK_N;  // in the stage
    const int first_key = stage * kStageKeys + tile_key;
    if (SPLIT_KEYS > 1 && first_key >= keys) continue;
    const int in_stage = (stage % STAGES * kStageKeys + tile_key) * HEAD_DIM * 2;  // bytes
    Scores s;
    score(s, q_fragments, Q_rows, {shared_address(K_tiles) + in_stage, lane % 8 + lane / 16 * 8, lane / 8 % 2});
    if (first_key + BLOCK_N > visible_keys(first_row + warp_row, seq_q, seq_k))
      mask(s, first_row + warp_row, first_key, seq_q, seq_k, lane);
    Bases bases;
    raise_max(s, rows, bases, scale_log2);
    accumulate(rows, s, bases, scale_log2, {shared_address(V_tiles) + in_stage, lane % 16, lane / 16});
  }
  wait_for_copies<0>();

  finish_rows(rows, scale_log2);
  if constexpr (SPLIT_KEYS > 1) {
    __syncthreads();  // every warp has read the tiles: their place is now the parts'
    combine(rows, reinterpret_cast<float*>(K_tiles), group, row_warp, lane);
    if (group > 0) return;
  }
  __syncwarp();
  store(o, head, rows, Q_tile, first_row, warp_row, seq_q, seq_k, lane);
}
