// The copy of one tile of keys from global to shared memory, VEC_WIDTH halves a thread at a time: through registers, or by
// cp.async, which needs 4 bytes or more.
//
// clock64 is read before and after REPEATS tiles, each waited for, so a tile's clocks hold one latency of the L1, which
// has the tile since the first round. The first round only warms the caches; the second one's clocks a tile go into `cycles`.
#include <cuda_fp16.h>

#ifndef BLOCK_N
#define BLOCK_N 64
#endif
#ifndef NUM_WARPS
#define NUM_WARPS 4
#endif
#ifndef VEC_WIDTH
#define VEC_WIDTH 8
#endif
#ifndef ASYNC
#define ASYNC 0
#endif
#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif

constexpr int REPEATS = 8, ROUNDS = 2;
constexpr int THREADS = 32 * NUM_WARPS, PIECES = BLOCK_N * HEAD_DIM / VEC_WIDTH;

struct __align__(2 * VEC_WIDTH) Piece {
  half values[VEC_WIDTH];
};

__device__ __forceinline__ void fragment(half* tile, const half* from) {
#pragma unroll 4
  for (int piece = threadIdx.x; piece < PIECES; piece += THREADS) {
#if ASYNC
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(tile + piece * VEC_WIDTH));
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from + piece * VEC_WIDTH), "n"(2 * VEC_WIDTH) : "memory");
#else
    *reinterpret_cast<Piece*>(tile + piece * VEC_WIDTH) = *reinterpret_cast<const Piece*>(from + piece * VEC_WIDTH);
#endif
  }
#if ASYNC
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
  __syncthreads();
}

extern "C" __global__ void __launch_bounds__(THREADS)
    copy_tile(const half* k, half* __restrict__ out, float* __restrict__ cycles) {
  __shared__ __align__(16) half tile[BLOCK_N * HEAD_DIM];
  long long span = 0;
#pragma unroll 1
  for (int round = 0; round < ROUNDS; ++round) {
    __syncthreads();
    const long long began = clock64();
#pragma unroll 1
    for (int repeat = 0; repeat < REPEATS; ++repeat) fragment(tile, k);
    span = clock64() - began;
  }
  if (threadIdx.x == 0) cycles[blockIdx.x] = static_cast<float>(span) / REPEATS;
  for (int i = threadIdx.x; i < BLOCK_N * HEAD_DIM; i += THREADS) out[i] = tile[i];
}
