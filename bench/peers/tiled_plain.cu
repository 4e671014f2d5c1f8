// The tiled attention of rung 2 (kernels/02_tiled.cu: BLOCK_M 32, BLOCK_N 64, four warps, one score row a thread, rows of
// the softmax and of P·V shared out among the warps, a CTA barrier after every phase) in what CUDA C++ and OpenCL C have
// in common, so that emulators of both execute one algorithm: emulator_peers.py. It differs from the rung where a peer
// lacks the means: no shuffle (running maxima and sums stand in shared memory), no barrier of a warp (a CTA's instead),
// no fp16 arithmetic.
//
// q, o: [rows][64] halves, k, v: [seq][64] of one head; seq is a multiple of 64, or 0. Grid rows / 32, 128 threads.
#ifdef __OPENCL_VERSION__
#define KERNEL kernel
#define GLOBAL global
#define SHARED local
#define TO_FLOAT(space, p, i) vload_half(i, (space const half*)(p))
#define STORE(p, i, x) vstore_half(x, i, (global half*)(p))
#define THREAD ((int)get_local_id(0))
#define BLOCK ((int)get_group_id(0))
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define EXP2 exp2
#define MAX fmax
#else
#include <cuda_fp16.h>
#define KERNEL extern "C" __global__ __launch_bounds__(128)
#define GLOBAL
#define SHARED __shared__
#define TO_FLOAT(space, p, i) __half2float(__ushort_as_half((p)[i]))
#define STORE(p, i, x) ((p)[i] = __half_as_ushort(__float2half(x)))
#define THREAD ((int)threadIdx.x)
#define BLOCK ((int)blockIdx.x)
#define BARRIER __syncthreads()
#define EXP2 exp2f
#define MAX fmaxf
#endif

enum { kHeadDim = 64, kBlockM = 32, kBlockN = 64, kThreads = 128, kWarps = 4 };

KERNEL void tiled_plain(GLOBAL const unsigned short* q, GLOBAL const unsigned short* k, GLOBAL const unsigned short* v,
                        GLOBAL unsigned short* o, float scale, int seq) {
  SHARED unsigned short Q_tile[kBlockM * kHeadDim];
  SHARED unsigned short K_tile[kBlockN * kHeadDim];
  SHARED unsigned short V_tile[kBlockN * kHeadDim];
  SHARED float S_tile[kBlockM * kBlockN];
  SHARED float O_tile[kBlockM * kHeadDim];
  SHARED float running_max[kBlockM];
  SHARED float running_sum[kBlockM];
  SHARED float new_max[kBlockM];
  const int thread = THREAD, warp = thread / 32, lane = thread % 32, first_row = BLOCK * kBlockM;
  if (seq == 0) return;
  for (int i = thread; i < kBlockM * kHeadDim; i += kThreads) {
    Q_tile[i] = q[first_row * kHeadDim + i];
    O_tile[i] = 0.0f;
  }
  if (thread < kBlockM) {
    running_max[thread] = -1e30f;
    running_sum[thread] = 0.0f;
  }
  for (int first_key = 0; first_key < seq; first_key += kBlockN) {
    for (int i = thread; i < kBlockN * kHeadDim; i += kThreads) {
      K_tile[i] = k[first_key * kHeadDim + i];
      V_tile[i] = v[first_key * kHeadDim + i];
    }
    BARRIER;
    for (int row = thread; row < kBlockM; row += kThreads) {
      for (int key = 0; key < kBlockN; ++key) {
        float dot = 0.0f;
        for (int d = 0; d < kHeadDim; ++d)
          dot += TO_FLOAT(SHARED, Q_tile, row * kHeadDim + d) * TO_FLOAT(SHARED, K_tile, key * kHeadDim + d);
        S_tile[row * kBlockN + key] = dot * scale;
      }
    }
    BARRIER;
    for (int row = warp; row < kBlockM; row += kWarps) {
      if (lane == 0) {
        float most = running_max[row];
        for (int key = 0; key < kBlockN; ++key) most = MAX(most, S_tile[row * kBlockN + key]);
        new_max[row] = most;
      }
      BARRIER;
      const float most = new_max[row];
      const float rescale = EXP2((running_max[row] - most) * 1.4426950408889634f);
      for (int key = lane; key < kBlockN; key += 32)
        S_tile[row * kBlockN + key] = EXP2((S_tile[row * kBlockN + key] - most) * 1.4426950408889634f);
      BARRIER;
      if (lane == 0) {
        float sum = 0.0f;
        for (int key = 0; key < kBlockN; ++key) sum += S_tile[row * kBlockN + key];
        running_sum[row] = running_sum[row] * rescale + sum;
        running_max[row] = most;
      }
      for (int d = lane; d < kHeadDim; d += 32) {
        float sum = 0.0f;
        for (int key = 0; key < kBlockN; ++key)
          sum += S_tile[row * kBlockN + key] * TO_FLOAT(SHARED, V_tile, key * kHeadDim + d);
        O_tile[row * kHeadDim + d] = O_tile[row * kHeadDim + d] * rescale + sum;
      }
    }
    BARRIER;
  }
  for (int row = warp; row < kBlockM; row += kWarps)
    for (int d = lane; d < kHeadDim; d += 32)
      STORE(o, (first_row + row) * kHeadDim + d, O_tile[row * kHeadDim + d] / running_sum[row]);
}
