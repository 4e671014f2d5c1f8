// Rung 8: gemm_tensorop. The scores only, S = scale·Q·K^T for every head, by CUTLASS' GEMM on the Tensor Cores.
//
// What changed: no mma is written here at all. A GEMM kernel of CUTLASS is a type; its tiles and stages are template
// arguments. Usually the host fills its Params and launches it. Here a wrapper takes plain pointers and sizes and fills
// the Params itself, a few integer operations a thread, so that it runs like any other kernel.
//   * sizeof(SharedStorage) is the dynamic shared memory to ask for at a launch. The manifest reads it from the code.
//   * The reports' "Error Internal": CUTLASS' default for Sm80, 128x256x64 in 3 stages, is (128 + 256)·64·2 B·3 =
//     147,456 B. An A100 or H200 gives it; an L4 gives a CTA 101,376 B at most and refuses the launch. Nothing is wrong
//     with the architecture: any smaller tile runs.
//
// What disappointed: at head_dim 64 the main loop is one or two steps deep, so stages have nothing to overlap, and the
// time goes into storing S: the bytes that a fused kernel never writes. And the watch is not silent: with two steps and
// three stages CUTLASS' main loop fetches a fragment of a stage that nothing filled. It is never used: the output is
// the same whatever lies there.
//
// Times, us, hot, measured on an H200 (bench/results/rungs_h200.json):
//                                                      B8 M512 N512 K64
//   gemm_simt                                                      12.1
//   gemm_tensorop                                                  3.60
//   gemm_tensorop BLOCK_N=256 BLOCK_K=64                           4.91
//   gemm_tensorop BLOCK_M=32 BLOCK_N=32 BLOCK_K=64                 6.09
//
// Map, in reading order, with the knobs that change each piece:
//   Types     the GEMM as a type: tiles, operator class, epilogue      BLOCK_M BLOCK_N BLOCK_K STAGES STORE_WIDTH
//   Kernel    scores_gemm_tensorop(): fills the Params and runs it
//
// Layout: q [B][M][K], k [B][N][K], s [B][M][N], row-major halves; K % 8 == 0, N % STORE_WIDTH == 0. Grid
// (ceil(M / BLOCK_M), ceil(N / BLOCK_N), B). Needs CUTLASS' headers: attnscope fetch.
#include <cutlass/epilogue/thread/linear_combination.h>
#include <cutlass/gemm/kernel/default_gemm.h>
#include <cutlass/gemm/kernel/gemm_batched.h>

#ifndef BLOCK_M
#define BLOCK_M 128
#endif
#ifndef BLOCK_N
#define BLOCK_N 128
#endif
#ifndef BLOCK_K
#define BLOCK_K 32
#endif
#ifndef STAGES
#define STAGES 3
#endif
#ifndef STORE_WIDTH
#define STORE_WIDTH 8
#endif

namespace {

// ---- Types ----------------------------------------------------------------------------------------------------------

using cutlass::half_t;
using Rows = cutlass::layout::RowMajor;
using Columns = cutlass::layout::ColumnMajor;  // K^T, as K lies in memory
using Tile = cutlass::gemm::GemmShape<BLOCK_M, BLOCK_N, BLOCK_K>;
using WarpTile = cutlass::gemm::GemmShape<(BLOCK_M < 128 ? 32 : 64), (BLOCK_N < 128 ? 32 : 64), BLOCK_K>;
using Instruction = cutlass::gemm::GemmShape<16, 8, 16>;
using Store = cutlass::epilogue::thread::LinearCombination<half_t, STORE_WIDTH, float, float,
                                                           cutlass::epilogue::thread::ScaleType::OnlyAlphaScaling>;
using Order = cutlass::gemm::threadblock::GemmBatchedIdentityThreadblockSwizzle;
using Default =
    cutlass::gemm::kernel::DefaultGemm<half_t, Rows, 8, half_t, Columns, 8, half_t, Rows, float,
                                       cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80, Tile, WarpTile, Instruction,
                                       Store, Order, STAGES, false, cutlass::arch::OpMultiplyAdd>::GemmKernel;
using Gemm = cutlass::gemm::kernel::GemmBatched<Default::Mma, Default::Epilogue, Order>;

}  // namespace

// ---- Kernel ---------------------------------------------------------------------------------------------------------

extern "C" __device__ const int shared_bytes = sizeof(Gemm::SharedStorage);

extern "C" __global__ void __launch_bounds__(Gemm::kThreadCount)
    scores_gemm_tensorop(const half_t* q, const half_t* k, half_t* s, float scale, int batch, int rows, int keys,
                         int depth) {
  extern __shared__ __align__(128) unsigned char shared[];
  const cutlass::gemm::GemmCoord problem(rows, keys, depth);
  const cutlass::gemm::GemmCoord tiles((rows + BLOCK_M - 1) / BLOCK_M, (keys + BLOCK_N - 1) / BLOCK_N, batch);
  const Gemm::Params params(problem, tiles, {const_cast<half_t*>(q), depth}, int64_t(rows) * depth,
                            {const_cast<half_t*>(k), depth}, int64_t(keys) * depth, {s, keys}, int64_t(rows) * keys,
                            {s, keys}, int64_t(rows) * keys, {scale}, batch);
  Gemm{}(params, *reinterpret_cast<Gemm::SharedStorage*>(shared));
}
