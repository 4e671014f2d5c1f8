// Rung 7: gemm_simt. The scores only, S = scale·Q·K^T for every head, by CUTLASS' GEMM on the FP32 pipe.
//
// What changed: nothing is written here but types. It is the reports' "simple GEMM" that passed, without Tensor Cores,
// kept beside the next rung: the same wrapper, the same Params, another operator class. A wrapper takes plain pointers
// and sizes and fills the Params on the device; the manifest reads sizeof(SharedStorage) from the code.
//   * A thread multiplies 8x8 elements from registers and loads its halves one by one: SIMT iterators have no wider
//     access for two operands whose depth lies side by side in memory.
//   * Two stages, with the next tile on its way through registers: before sm_80 there was no other way.
//
// What disappointed: issue slots limit it, because halves are loaded and widened one at a time, and it has bank
// conflicts that no knob of ours reaches.
//
// Times, us, hot, measured on an H200 (bench/results/rungs_h200.json):
//                    B8 M512 N512 K64
//   gemm_simt                    12.1
//   gemm_tensorop                3.60
//
// Map, in reading order, with the knobs that change each piece:
//   Types     the GEMM as a type: tiles, operator class, epilogue      BLOCK_M BLOCK_N
//   Kernel    scores_gemm_simt(): fills the Params and runs it
//
// Layout: q [B][M][K], k [B][N][K], s [B][M][N], row-major halves, any M, N, K. Grid (ceil(M / BLOCK_M),
// ceil(N / BLOCK_N), B). Needs CUTLASS' headers: attnscope fetch.
#include <cutlass/epilogue/thread/linear_combination.h>
#include <cutlass/gemm/kernel/default_gemm.h>
#include <cutlass/gemm/kernel/gemm_batched.h>

#ifndef BLOCK_M
#define BLOCK_M 64
#endif
#ifndef BLOCK_N
#define BLOCK_N 64
#endif

namespace {

// ---- Types ----------------------------------------------------------------------------------------------------------

using cutlass::half_t;
using Rows = cutlass::layout::RowMajor;
using Columns = cutlass::layout::ColumnMajor;  // K^T, as K lies in memory
using Tile = cutlass::gemm::GemmShape<BLOCK_M, BLOCK_N, 8>;
using WarpTile = cutlass::gemm::GemmShape<(BLOCK_M < 32 ? BLOCK_M : 32), (BLOCK_N < 64 ? BLOCK_N : 64), 8>;
using Store = cutlass::epilogue::thread::LinearCombination<half_t, 1, float, float,
                                                           cutlass::epilogue::thread::ScaleType::OnlyAlphaScaling>;
using Order = cutlass::gemm::threadblock::GemmBatchedIdentityThreadblockSwizzle;
using Default = cutlass::gemm::kernel::DefaultGemm<
    half_t, Rows, 1, half_t, Columns, 1, half_t, Rows, float, cutlass::arch::OpClassSimt, cutlass::arch::Sm50, Tile,
    WarpTile, cutlass::gemm::GemmShape<1, 1, 1>, Store, Order, 2, false, cutlass::arch::OpMultiplyAdd>::GemmKernel;
using Gemm = cutlass::gemm::kernel::GemmBatched<Default::Mma, Default::Epilogue, Order>;

}  // namespace

// ---- Kernel ---------------------------------------------------------------------------------------------------------

extern "C" __device__ const int shared_bytes = sizeof(Gemm::SharedStorage);

extern "C" __global__ void __launch_bounds__(Gemm::kThreadCount)
    scores_gemm_simt(const half_t* q, const half_t* k, half_t* s, float scale, int batch, int rows, int keys,
                     int depth) {
  extern __shared__ __align__(128) unsigned char shared[];
  const cutlass::gemm::GemmCoord problem(rows, keys, depth);
  const cutlass::gemm::GemmCoord tiles((rows + BLOCK_M - 1) / BLOCK_M, (keys + BLOCK_N - 1) / BLOCK_N, batch);
  const Gemm::Params params(problem, tiles, {const_cast<half_t*>(q), depth}, int64_t(rows) * depth,
                            {const_cast<half_t*>(k), depth}, int64_t(keys) * depth, {s, keys}, int64_t(rows) * keys,
                            {s, keys}, int64_t(rows) * keys, {scale}, batch);
  Gemm{}(params, *reinterpret_cast<Gemm::SharedStorage*>(shared));
}
