// Rung 5: mma. Both products on the Tensor Cores, by mma.sync m16n8k16; softmax and P never leave the registers.
//
// What changed: a warp owns 16 or 32 query rows. It holds their Q fragments, the scores of one key tile and O in
// registers; K and V come from shared memory by ldmatrix, four 8x8 matrices an instruction, and from global memory by
// cp.async, which passes no register. The scores' accumulator is laid out as the next product's A operand wants it, so
// that P is packed to 16 bits where it stands: what wmma hides, and pays for by a trip through shared memory, is used here.
//   * SWIZZLE_XOR moves a row's 16-byte chunks by the row's number: the eight rows that one ldmatrix phase reads then lie
//     in all 32 banks. 0 leaves them in four: eight wavefronts instead of one.
//   * STAGES is how many K/V tiles are in shared memory or on the way; 1 waits for each.
//   * SPLIT_KEYS gives the same rows to several groups of warps, each with its own keys, and combines them at the end: for
//     problems whose rows alone do not fill the GPU (B1 H8 S512 has 128 tiles of 32 rows, an H200 132 SMs).
//   * Q_REGS 0 reads Q's fragments anew for every key tile: registers for wider tiles, paid in ldmatrix.
//   * Under a causal mask key tiles that no row sees are never fetched, only tiles on the diagonal are masked, and the
//     CTAs with the most keys start first, so that the last to end are short ones.
//
// What it gained: on an H200 at B1 H8 S512 D64, 5.3 us where the scalar rung takes 23.0, 1.72 times as fast as cuDNN's
// attention and 1.97 times FlashAttention-2; at B4 H16 S4096, 1.17 times FlashAttention-2 at D=64 and 1.08 times at D=128
// (PyTorch 2.11, kernel times in one run). What paid most was not a Tensor Core instruction: one address a thread for all
// copies of a tile, and one a step for all of ldmatrix, took a fifth of the loop's instructions away and a sixth of its
// time. Where it disappointed: at S=4096 it takes 1.35 (D=64) to 1.75 (D=128) times cuDNN's time, whose Hopper kernels use
// wgmma: mma.sync ends at 6.05 clocks an instruction and scheduler there, two thirds of what the Tensor Cores can do.
//
// Layout: q, o are [batch][heads][seq_q][HEAD_DIM], k, v are [batch][kv_heads][seq_k][HEAD_DIM], row-major, 16-byte
// aligned. Grid (ceil(seq_q / BLOCK_M), heads, batch), 32·NUM_WARPS threads.
#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif
#ifndef CAUSAL  // 0 none, 1 top_left, 2 bottom_right
#define CAUSAL 0
#endif
#ifndef DTYPE  // 0 f16, 1 bf16
#define DTYPE 0
#endif
#if DTYPE == 1
#include <cuda_bf16.h>
#else
#include <cuda_fp16.h>
#endif
#ifndef ATTN_T
#define ATTN_T half
#endif
#ifndef BLOCK_M
#define BLOCK_M 32
#endif
#ifndef BLOCK_N
#define BLOCK_N 32
#endif
#ifndef NUM_WARPS
#define NUM_WARPS 4
#endif
#ifndef SPLIT_KEYS
#define SPLIT_KEYS 2
#endif
#ifndef STAGES
#define STAGES 2
#endif
#ifndef SWIZZLE_XOR
#define SWIZZLE_XOR 1
#endif
#ifndef Q_REGS  // 1: Q's fragments are kept; 0: read from shared memory for every key tile
#define Q_REGS 1
#endif

namespace {

constexpr int kThreads = 32 * NUM_WARPS;
constexpr int kRowWarps = NUM_WARPS / SPLIT_KEYS;        // warps side by side over the query rows
constexpr int kRowTiles = BLOCK_M / (16 * kRowWarps);    // tiles of 16 rows a warp
constexpr int kStageKeys = BLOCK_N * SPLIT_KEYS;         // keys in shared memory a stage, BLOCK_N a group of warps
constexpr int kChunks = HEAD_DIM / 8;                    // 16-byte chunks a row
constexpr int kDepth = HEAD_DIM / 16;                    // mma steps over a row of Q and K
constexpr int kKeyTiles = BLOCK_N / 8;                   // mma tiles over the keys
constexpr int kOutTiles = HEAD_DIM / 8;                  // mma tiles over the columns of O
constexpr unsigned kFullWarp = 0xffffffffu;
constexpr float kLog2e = 1.4426950408889634f;
static_assert(kRowWarps * SPLIT_KEYS == NUM_WARPS && kRowTiles * 16 * kRowWarps == BLOCK_M && kRowTiles >= 1);
static_assert(HEAD_DIM % 32 == 0 && BLOCK_N % 16 == 0);

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

// Where a row's 16-byte chunk lies in a tile, in elements. A row of 96 elements is 12 chunks and an odd row begins at bank
// 16: there the chunks move within groups of four, by half the row's number.
__device__ __forceinline__ int swizzle_of(int row) {
#if SWIZZLE_XOR
  return HEAD_DIM % 64 == 0 ? row & 7 : (row >> 1) & 3;
#else
  return 0;
#endif
}
__device__ __forceinline__ int chunk_at(int row, int chunk) { return row * HEAD_DIM + (chunk ^ swizzle_of(row)) * 8; }

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// 16 bytes from global to shared memory without a register between.
__device__ __forceinline__ void copy_async(ATTN_T* to, const ATTN_T* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
// The same, zeros where `there` is false.
__device__ __forceinline__ void copy_async(ATTN_T* to, const ATTN_T* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(there ? 16 : 0)
               : "memory");
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kPending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// Where a lane reads with ldmatrix: its row, and a chunk that moves by two from one step to the next. The row's swizzle and
// the step are XORed onto the chunk, so that a step costs one instruction, or none; whole rows further are a constant that
// the instruction itself adds. All in bytes of shared memory.
struct LaneAddress {
  unsigned row, chunk;
  __device__ __forceinline__ LaneAddress(unsigned tile, int lane_row, int lane_chunk)
      : row(tile + lane_row * HEAD_DIM * 2), chunk((lane_chunk ^ swizzle_of(lane_row)) * 16) {}
  __device__ __forceinline__ unsigned at(int step, int rows_further) const {
#if HEAD_DIM % 64 == 0  // a row begins where the bits of a chunk are zero
    return ((row | chunk) ^ (step * 32)) + rows_further * HEAD_DIM * 2;
#else
    return row + (chunk ^ (step * 32)) + rows_further * HEAD_DIM * 2;
#endif
  }
};

// Four 8x8 matrices: lane l gives the address of row l % 8 of matrix l / 8, and gets of each the two elements of row l / 4
// (or, transposed, of column l / 4) that stand at 2·(l % 4).
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

#if DTYPE == 1
#define MMA "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
#else
#define MMA "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
#endif
// c[16x8] += a[16x16]·b[16x8]; c: rows l / 4 and l / 4 + 8, columns 2·(l % 4) and the next.
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

__device__ __forceinline__ unsigned pack(float low, float high) {
#if DTYPE == 1
  const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
#else
  const half2 both = __floats2half2_rn(low, high);
#endif
  return *reinterpret_cast<const unsigned*>(&both);
}

// Starts copying kRows rows from row `first` of a [rows][HEAD_DIM] tensor. Of a whole tile a thread's chunks lie one below
// the other, alike swizzled: one address each way, and constants from it.
template <int kRows>
__device__ __forceinline__ void copy_tile(ATTN_T* tile, const ATTN_T* tensor, int first, int rows) {
  constexpr int kStep = kThreads / kChunks;  // rows from a thread's chunk to its next
  if (kThreads % kChunks == 0 && kStep % 8 == 0 && kRows % kStep == 0 && first + kRows <= rows) {
    const int row = threadIdx.x / kChunks, chunk = threadIdx.x % kChunks;
    ATTN_T* to = tile + chunk_at(row, chunk);
    const ATTN_T* from = tensor + (size_t)first * HEAD_DIM + (row * HEAD_DIM + chunk * 8);
#pragma unroll
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

// What a warp keeps of its rows. Each tile of 16 rows has two rows a thread: l / 4 and l / 4 + 8.
struct Rows {
  float out[kRowTiles][kOutTiles][4];  // not yet divided by the row's sum
  float max[kRowTiles][2];             // of the scores, unscaled
  float sum[kRowTiles][2];             // of this thread's keys alone, until combine() or the end

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
      for (int n = 0; n < kOutTiles; ++n)
#pragma unroll
        for (int x = 0; x < 4; ++x) out[m][n][x] = 0.0f;
#pragma unroll
      for (int half_tile = 0; half_tile < 2; ++half_tile) {
        max[m][half_tile] = minus_infinity();
        sum[m][half_tile] = 0.0f;
      }
    }
  }
};

// Q·K^T for one tile of keys.
__device__ __forceinline__ void score(float (&s)[kRowTiles][kKeyTiles][4], unsigned (&q)[kRowTiles][kDepth][4],
                                      const LaneAddress& Q_rows, const LaneAddress& K_rows) {
#pragma unroll
  for (int depth = 0; depth < kDepth; ++depth) {
#if !Q_REGS
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) load_matrices(q[m][depth], Q_rows.at(depth, m * 16));
#endif
#pragma unroll
    for (int n = 0; n < kKeyTiles; n += 2) {
      unsigned k[4];  // keys 8n…, depth halves 0 and 1; keys 8n + 8…, the same
      load_matrices(k, K_rows.at(depth, n * 8));
#pragma unroll
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

// Raises the rows' maxima to this tile's; what stood under an older one is scaled down. bases: what the exponents are
// relative to.
__device__ __forceinline__ void raise_max(const float (&s)[kRowTiles][kKeyTiles][4], Rows& rows,
                                          float (&bases)[kRowTiles][2], float scale_log2) {
  bool raised = false;
  float rescale[kRowTiles][2];
#pragma unroll
  for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
    for (int half_tile = 0; half_tile < 2; ++half_tile) {
      float tile_max = s[m][0][2 * half_tile];
#pragma unroll
      for (int n = 0; n < kKeyTiles; ++n)
        tile_max = fmaxf(tile_max, fmaxf(s[m][n][2 * half_tile], s[m][n][2 * half_tile + 1]));
      tile_max = fmaxf(tile_max, __shfl_xor_sync(kFullWarp, tile_max, 1));
      tile_max = fmaxf(tile_max, __shfl_xor_sync(kFullWarp, tile_max, 2));
      const float old_max = rows.max[m][half_tile], new_max = fmaxf(old_max, tile_max);
      const float base = new_max == minus_infinity() ? 0.0f : new_max * scale_log2;  // masked so far: 2^(-inf) = 0
      rescale[m][half_tile] = exp2f(old_max * scale_log2 - base);
      raised |= new_max > old_max;
      rows.max[m][half_tile] = new_max;
      bases[m][half_tile] = base;
    }
  }
  // Most tiles of a long row raise nothing. Where O is small, multiplying by 1 beside the products costs less than a branch.
  if (kRowTiles * kOutTiles > 16 && !__any_sync(kFullWarp, raised)) return;
#pragma unroll
  for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
    for (int half_tile = 0; half_tile < 2; ++half_tile) {
      rows.sum[m][half_tile] *= rescale[m][half_tile];
#pragma unroll
      for (int n = 0; n < kOutTiles; ++n) {
        rows.out[m][n][2 * half_tile] *= rescale[m][half_tile];
        rows.out[m][n][2 * half_tile + 1] *= rescale[m][half_tile];
      }
    }
  }
}

// O += P·V for one tile of keys. A block of 16 keys at a time, so that the exponentials of one stand beside the products of
// the one before.
__device__ __forceinline__ void accumulate(Rows& rows, float (&s)[kRowTiles][kKeyTiles][4],
                                           const float (&bases)[kRowTiles][2], float scale_log2,
                                           const LaneAddress& V_rows) {
#pragma unroll
  for (int key = 0; key < BLOCK_N / 16; ++key) {
    unsigned p[kRowTiles][4];
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
      for (int part = 0; part < 4; ++part) {  // rows l / 4, l / 4 + 8 of the first 8 keys, then of the others
        const int n = 2 * key + part / 2, x = part % 2 * 2;
        const float low = exp2f(fmaf(s[m][n][x], scale_log2, -bases[m][part % 2]));
        const float high = exp2f(fmaf(s[m][n][x + 1], scale_log2, -bases[m][part % 2]));
        rows.sum[m][part % 2] += low + high;
        p[m][part] = pack(low, high);
      }
    }
#pragma unroll
    for (int n = 0; n < kOutTiles; n += 2) {
      unsigned v[4];  // keys 16·key and + 8 of columns 8n…; the same of columns 8n + 8…
      load_transposed(v, V_rows.at(n / 2, key * 16));
#pragma unroll
      for (int m = 0; m < kRowTiles; ++m) {
        multiply_add(rows.out[m][n], p[m], v[0], v[1]);
        multiply_add(rows.out[m][n + 1], p[m], v[2], v[3]);
      }
    }
  }
}

// Keys from `first_key` on that a row may not see, or that there are not, score -infinity.
__device__ __forceinline__ void mask(float (&s)[kRowTiles][kKeyTiles][4], int first_row, int first_key, int seq_q,
                                     int seq_k, int lane) {
#pragma unroll
  for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
    for (int half_tile = 0; half_tile < 2; ++half_tile) {
      const int row = first_row + m * 16 + half_tile * 8 + lane / 4;
      const int visible = visible_keys(row, seq_q, seq_k) - first_key - 2 * (lane % 4);
#pragma unroll
      for (int n = 0; n < kKeyTiles; ++n) {
        if (n * 8 >= visible) s[m][n][2 * half_tile] = minus_infinity();
        if (n * 8 + 1 >= visible) s[m][n][2 * half_tile + 1] = minus_infinity();
      }
    }
  }
}

#if SPLIT_KEYS > 1
// The groups' rows, each under its own maximum, become group 0's. `parts` is fp32, kPart floats a warp of the others.
__device__ __forceinline__ void combine(Rows& rows, float* parts, int group, int row_warp, int lane) {
  constexpr int kPart = kRowTiles * (kOutTiles * 4 + 4) * 32;
  if (group > 0) {
    float* part = parts + ((group - 1) * kRowWarps + row_warp) * kPart + lane;
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
      for (int half_tile = 0; half_tile < 2; ++half_tile) {
        part[(m * 4 + half_tile * 2) * 32] = rows.max[m][half_tile];
        part[(m * 4 + half_tile * 2 + 1) * 32] = rows.sum[m][half_tile];
      }
#pragma unroll
      for (int n = 0; n < kOutTiles; ++n)
#pragma unroll
        for (int x = 0; x < 4; ++x) part[(kRowTiles * 4 + (m * kOutTiles + n) * 4 + x) * 32] = rows.out[m][n][x];
    }
  }
  __syncthreads();
  if (group > 0) return;
#pragma unroll
  for (int other = 0; other < SPLIT_KEYS - 1; ++other) {
    const float* part = parts + (other * kRowWarps + row_warp) * kPart + lane;
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
      for (int half_tile = 0; half_tile < 2; ++half_tile) {
        const float its_max = part[(m * 4 + half_tile * 2) * 32];
        const float new_max = fmaxf(rows.max[m][half_tile], its_max);
        const float base = new_max == minus_infinity() ? 0.0f : new_max;
        const float mine = exp2f(rows.max[m][half_tile] - base), its = exp2f(its_max - base);
        rows.max[m][half_tile] = new_max;
        rows.sum[m][half_tile] =
            rows.sum[m][half_tile] * mine + part[(m * 4 + half_tile * 2 + 1) * 32] * its;
#pragma unroll
        for (int n = 0; n < kOutTiles; ++n)
#pragma unroll
          for (int x = 2 * half_tile; x < 2 * half_tile + 2; ++x)
            rows.out[m][n][x] =
                rows.out[m][n][x] * mine + part[(kRowTiles * 4 + (m * kOutTiles + n) * 4 + x) * 32] * its;
      }
    }
  }
}
#endif

}  // namespace

extern "C" __global__ void __launch_bounds__(32 * NUM_WARPS, 1)
attention_mma(const ATTN_T* __restrict__ q, const ATTN_T* __restrict__ k, const ATTN_T* __restrict__ v,
              ATTN_T* __restrict__ o, float scale, int batch, int heads, int kv_heads, int seq_q, int seq_k) {
  extern __shared__ __align__(256) unsigned char shared[];
  ATTN_T* Q_tile = reinterpret_cast<ATTN_T*>(shared);             // [BLOCK_M][HEAD_DIM]; at the end O
  ATTN_T* K_tiles = Q_tile + BLOCK_M * HEAD_DIM;                  // [STAGES][kStageKeys][HEAD_DIM]
  ATTN_T* V_tiles = K_tiles + STAGES * kStageKeys * HEAD_DIM;     // the same

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row_warp = warp % kRowWarps, group = warp / kRowWarps;
  const int warp_row = row_warp * kRowTiles * 16;  // in the tile
#if CAUSAL
  const int first_row = (gridDim.x - 1 - blockIdx.x) * BLOCK_M;
#else
  const int first_row = blockIdx.x * BLOCK_M;
#endif
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

  copy_tile<BLOCK_M>(Q_tile, q + head * seq_q * HEAD_DIM, first_row, seq_q);
  commit_copies();
#pragma unroll
  for (int stage = 0; stage < STAGES - 1; ++stage) copy_stage(stage);
  wait_for_copies<STAGES - 1>();
  __syncthreads();
  const LaneAddress Q_rows(shared_address(Q_tile), warp_row + lane % 16, lane / 16);
  unsigned q_fragments[kRowTiles][kDepth][4];
#if Q_REGS
#pragma unroll
  for (int m = 0; m < kRowTiles; ++m)
#pragma unroll
    for (int depth = 0; depth < kDepth; ++depth) load_matrices(q_fragments[m][depth], Q_rows.at(depth, m * 16));
#endif

  Rows rows;
  rows.clear();
  for (int stage = 0; stage < stages; ++stage) {
#if STAGES == 1
    __syncthreads();  // every warp has read the tiles before
    copy_stage(stage);
    wait_for_copies<0>();
    __syncthreads();
#else
    wait_for_copies<STAGES - 2>();
    __syncthreads();  // this stage is here for every warp, and every warp has read the stage that is copied over next
    copy_stage(stage + STAGES - 1);
#endif
    const int tile_key = group * BLOCK_N;  // in the stage
    const int first_key = stage * kStageKeys + tile_key;
    if (SPLIT_KEYS > 1 && first_key >= keys) continue;
    const int in_stage = (stage % STAGES * kStageKeys + tile_key) * HEAD_DIM * 2;  // bytes
    float s[kRowTiles][kKeyTiles][4];
    score(s, q_fragments, Q_rows, {shared_address(K_tiles) + in_stage, lane % 8 + lane / 16 * 8, lane / 8 % 2});
    if (first_key + BLOCK_N > visible_keys(first_row + warp_row, seq_q, seq_k))
      mask(s, first_row + warp_row, first_key, seq_q, seq_k, lane);
    float bases[kRowTiles][2];
    raise_max(s, rows, bases, scale_log2);
    accumulate(rows, s, bases, scale_log2, {shared_address(V_tiles) + in_stage, lane % 16, lane / 16});
  }
  wait_for_copies<0>();

#pragma unroll
  for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
    for (int half_tile = 0; half_tile < 2; ++half_tile) {
      float& sum = rows.sum[m][half_tile];
      sum += __shfl_xor_sync(kFullWarp, sum, 1);
      sum += __shfl_xor_sync(kFullWarp, sum, 2);
      rows.max[m][half_tile] *= scale_log2;
    }
  }
#if SPLIT_KEYS > 1
  __syncthreads();  // every warp has read the tiles: their place is the parts' now
  combine(rows, reinterpret_cast<float*>(K_tiles), group, row_warp, lane);
  if (group > 0) return;
#endif

  // Divide, and store by way of the warp's own rows of Q's place, so that a row leaves in 16-byte pieces side by side.
  // A row that saw no key is 0.
  __syncwarp();
#pragma unroll
  for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
    for (int half_tile = 0; half_tile < 2; ++half_tile) {
      const int row = first_row + warp_row + m * 16 + half_tile * 8 + lane / 4;
      const float inverse = visible_keys(row, seq_q, seq_k) > 0 ? 1.0f / rows.sum[m][half_tile] : 0.0f;
#pragma unroll
      for (int n = 0; n < kOutTiles; ++n)
        *reinterpret_cast<unsigned*>(Q_tile + chunk_at(warp_row + m * 16 + half_tile * 8 + lane / 4, n) + lane % 4 * 2) =
            pack(rows.out[m][n][2 * half_tile] * inverse, rows.out[m][n][2 * half_tile + 1] * inverse);
    }
  }
  __syncwarp();
  ATTN_T* o_rows = o + (head * seq_q + first_row) * HEAD_DIM;
#pragma unroll
  for (int i = lane; i < kRowTiles * 16 * kChunks; i += 32) {
    const int row = warp_row + i / kChunks, chunk = i % kChunks;
    if (first_row + row < seq_q)
      *reinterpret_cast<uint4*>(o_rows + (size_t)row * HEAD_DIM + chunk * 8) =
          *reinterpret_cast<const uint4*>(Q_tile + chunk_at(row, chunk));
  }
}
