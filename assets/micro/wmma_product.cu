// One product of attention by WMMA 16x16x16, as the rung of that name does it: S = Q·K^T or O += P·V of one tile, from shared
// memory, a CTA. Both operands are loaded for every step, and the sums stay in fragments.
//
// clock64 is read before and after REPEATS products. The first round only warms the instruction cache; the second one's
// clocks a product go into `cycles`, and the sum of all products, which is checked, into `c`.
#include <cuda_fp16.h>
#include <mma.h>

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

using namespace nvcuda;

constexpr int REPEATS = 8, ROUNDS = 2;
constexpr int DEPTH = PRODUCT == 0 ? HEAD_DIM : BLOCK_N;    // of the product
constexpr int COLUMNS = PRODUCT == 0 ? BLOCK_N : HEAD_DIM;  // of its result
constexpr int A_ROW = DEPTH + 8, B_ROW = HEAD_DIM + 8;      // halves: the padding keeps the loads free of conflicts
constexpr int ROW_TILES = BLOCK_M / (16 * NUM_WARPS);       // of a warp
constexpr int COLUMN_TILES = COLUMNS / 16;

#if ACCUMULATE == 16
using Sum = half;
#else
using Sum = float;
#endif
using Left = wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major>;
#if PRODUCT == 0
using Right = wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major>;
#else
using Right = wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major>;
#endif
using Sums = wmma::fragment<wmma::accumulator, 16, 16, 16, Sum>;

__device__ __forceinline__ void fragment(Sums (&sums)[ROW_TILES][COLUMN_TILES], const half* left, const half* right) {
  const int warp = threadIdx.x / 32;
#pragma unroll
  for (int depth = 0; depth < DEPTH; depth += 16) {
    Left a[ROW_TILES];
#pragma unroll
    for (int row = 0; row < ROW_TILES; ++row)
      wmma::load_matrix_sync(a[row], left + (warp * ROW_TILES + row) * 16 * A_ROW + depth, A_ROW);
#pragma unroll
    for (int column = 0; column < COLUMN_TILES; ++column) {
      Right b;
      wmma::load_matrix_sync(b, PRODUCT == 0 ? right + column * 16 * B_ROW + depth : right + depth * B_ROW + column * 16, B_ROW);
#pragma unroll
      for (int row = 0; row < ROW_TILES; ++row) wmma::mma_sync(sums[row][column], a[row], b, sums[row][column]);
    }
  }
  asm volatile("" ::: "memory");  // the next execution loads its operands again
}

extern "C" __global__ void __launch_bounds__(32 * NUM_WARPS)
    wmma_product(const half* __restrict__ a, const half* __restrict__ b, float* __restrict__ c, float* __restrict__ cycles) {
  __shared__ __align__(32) half left[BLOCK_M * A_ROW];
  __shared__ __align__(32) half right[BLOCK_N * B_ROW];
  for (int i = threadIdx.x; i < BLOCK_M * DEPTH; i += 32 * NUM_WARPS) left[i / DEPTH * A_ROW + i % DEPTH] = a[i];
  for (int i = threadIdx.x; i < BLOCK_N * HEAD_DIM; i += 32 * NUM_WARPS)
    right[i / HEAD_DIM * B_ROW + i % HEAD_DIM] = b[i];
  Sums sums[ROW_TILES][COLUMN_TILES];
  for (int row = 0; row < ROW_TILES; ++row)
    for (int column = 0; column < COLUMN_TILES; ++column) wmma::fill_fragment(sums[row][column], Sum(0.0f));
  long long span = 0;
#pragma unroll 1
  for (int round = 0; round < ROUNDS; ++round) {
    __syncthreads();
    const long long began = clock64();
#pragma unroll 1
    for (int repeat = 0; repeat < REPEATS; ++repeat) fragment(sums, left, right);
    __syncthreads();
    span = clock64() - began;
  }
  if (threadIdx.x == 0) cycles[blockIdx.x] = static_cast<float>(span) / REPEATS;
  const int warp = threadIdx.x / 32;
  for (int row = 0; row < ROW_TILES; ++row)
    for (int column = 0; column < COLUMN_TILES; ++column) {
      wmma::fragment<wmma::accumulator, 16, 16, 16, float> wide;
      for (int i = 0; i < wide.num_elements; ++i) wide.x[i] = static_cast<float>(sums[row][column].x[i]);
      wmma::store_matrix_sync(c + (warp * ROW_TILES + row) * 16 * COLUMNS + column * 16, wide, COLUMNS, wmma::mem_row_major);
    }
}
