// One product of attention by mma.sync m16n8k16, as the rungs with registers for scores do it: S = Q·K^T or O += P·V of one
// tile, from shared memory, a CTA. The left operand stays in registers; the right one comes by ldmatrix.
//
// clock64 is read before and after REPEATS products. The first round only warms the instruction cache; the second one's
// clocks a product go into `cycles`, and the sum of all products, which is checked, into `c`.
#include <cuda_fp16.h>

#ifndef PRODUCT
#define PRODUCT 0  // 0: a[M][D] · b[N][D]^T; 1: a[M][N] · b[N][D]
#endif
#ifndef ACCUMULATE
#define ACCUMULATE 32
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
#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif

constexpr int REPEATS = 8, ROUNDS = 2;
constexpr int DEPTH = PRODUCT == 0 ? HEAD_DIM : BLOCK_N;    // of the product
constexpr int COLUMNS = PRODUCT == 0 ? BLOCK_N : HEAD_DIM;  // of its result
constexpr int B_ROW = HEAD_DIM + 8;                         // halves: the padding keeps ldmatrix free of conflicts
constexpr int ROW_TILES = BLOCK_M / (16 * NUM_WARPS);       // of a warp
constexpr int DEPTH_TILES = DEPTH / 16, COLUMN_TILES = COLUMNS / 8;

#if ACCUMULATE == 16
using Sum = unsigned;  // two halves
constexpr int SUMS = 2;
#else
using Sum = float;
constexpr int SUMS = 4;
#endif

// The right operand of two neighbouring column tiles.
__device__ __forceinline__ void load_right(unsigned (&b)[4], const half* tile, int depth, int column) {
  const int lane = threadIdx.x % 32;
  const int matrix = lane / 8, in_matrix = lane % 8;
#if PRODUCT == 0
  const half* from = tile + (column + matrix / 2 * 8 + in_matrix) * B_ROW + depth + matrix % 2 * 8;
#else
  const half* from = tile + (depth + matrix % 2 * 8 + in_matrix) * B_ROW + column + matrix / 2 * 8;
#endif
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(from));
#if PRODUCT == 0
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(at) : "memory");
#else
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(at) : "memory");
#endif
}

__device__ __forceinline__ void multiply(Sum (&c)[SUMS], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if ACCUMULATE == 16
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
               : "+r"(c[0]), "+r"(c[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

__device__ __forceinline__ void fragment(Sum (&c)[ROW_TILES][COLUMN_TILES][SUMS],
                                         const unsigned (&a)[ROW_TILES][DEPTH_TILES][4], const half* tile) {
#pragma unroll
  for (int depth = 0; depth < DEPTH_TILES; ++depth)
#pragma unroll
    for (int column = 0; column < COLUMN_TILES; column += 2) {
      unsigned b[4];
      load_right(b, tile, depth * 16, column * 8);
#pragma unroll
      for (int row = 0; row < ROW_TILES; ++row) {
        multiply(c[row][column], a[row][depth], b[0], b[1]);
        multiply(c[row][column + 1], a[row][depth], b[2], b[3]);
      }
    }
}

extern "C" __global__ void __launch_bounds__(32 * NUM_WARPS)
    mma_product(const half* __restrict__ a, const half* __restrict__ b, float* __restrict__ c, float* __restrict__ cycles) {
  __shared__ __align__(16) half tile[BLOCK_N * B_ROW];
  for (int i = threadIdx.x; i < BLOCK_N * HEAD_DIM; i += 32 * NUM_WARPS)
    tile[i / HEAD_DIM * B_ROW + i % HEAD_DIM] = b[i];
  const int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, pair = threadIdx.x % 4 * 2;
  unsigned left[ROW_TILES][DEPTH_TILES][4];
  Sum sums[ROW_TILES][COLUMN_TILES][SUMS] = {};
  for (int row = 0; row < ROW_TILES; ++row)
    for (int depth = 0; depth < DEPTH_TILES; ++depth)
      for (int part = 0; part < 4; ++part) {
        const int at_row = (warp * ROW_TILES + row) * 16 + group + part % 2 * 8;
        const int at_column = depth * 16 + pair + part / 2 * 8;
        left[row][depth][part] = *reinterpret_cast<const unsigned*>(a + at_row * DEPTH + at_column);
      }
  long long span = 0;
#pragma unroll 1
  for (int round = 0; round < ROUNDS; ++round) {
    __syncthreads();
    const long long began = clock64();
#pragma unroll 1
    for (int repeat = 0; repeat < REPEATS; ++repeat) fragment(sums, left, tile);
    __syncthreads();
    span = clock64() - began;
  }
  if (threadIdx.x == 0) cycles[blockIdx.x] = static_cast<float>(span) / REPEATS;
  for (int row = 0; row < ROW_TILES; ++row)
    for (int column = 0; column < COLUMN_TILES; ++column)
      for (int part = 0; part < 4; ++part) {
        const int at_row = (warp * ROW_TILES + row) * 16 + group + part / 2 * 8;
#if ACCUMULATE == 16
        const half2 two = *reinterpret_cast<const half2*>(&sums[row][column][part / 2]);
        const float value = __half2float(part % 2 == 0 ? two.x : two.y);
#else
        const float value = sums[row][column][part];
#endif
        c[at_row * COLUMNS + column * 8 + pair + part % 2] = value;
      }
}
