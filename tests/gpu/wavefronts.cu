// One kernel for each instruction that may occupy the shared-memory data path: what each adds to Nsight Compute's
// l1tex__data_pipe_lsu_wavefronts_mem_shared. Every kernel exists without the instruction (0) and with 8 and 24 of it; the
// difference of the last two, divided by 16 and the warps, is what one costs.
//
//   nvcc -std=c++17 -O3 -arch=sm_90 tests/gpu/wavefronts.cu -o wavefronts -lcuda
//   ncu --csv --page raw --metrics … ./wavefronts > NCU.csv
//   nvcc -std=c++17 -O3 -arch=sm_90 -cubin tests/gpu/wavefronts.cu      (the machine code that the emulator counts)
#include <cuda_runtime.h>
#include <stdint.h>

#include <cstdio>

__constant__ uint32_t constants[64];

// In every body: g global memory of each thread's own 16-byte slot, s the address of its own 16-byte slot in shared memory,
// base the start of shared memory, t the thread, z 0 at run time only, x a value that is kept.
#define KERNEL(NAME, ...)                                                                             \
  template <int N>                                                                                    \
  __global__ void NAME(uint32_t* out, uint32_t* data, int z) {                                        \
    __shared__ __align__(128) uint32_t memory[4096];                                                  \
    const uint32_t t = threadIdx.x, lane = t % 32;                                                    \
    const uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(memory)) + z;                \
    uint32_t s = base + t * 16, x = t, y = z;                                                         \
    uint32_t* g = data + (blockIdx.x * blockDim.x + t) * 4;                                           \
    (void)lane, (void)s, (void)y, (void)g, (void)base;                                                \
    for (uint32_t i = t; i < 4096; i += blockDim.x) memory[i] = 0;                                    \
    __syncthreads();                                                                                  \
    _Pragma("unroll") for (int i = 0; i < N; ++i) { __VA_ARGS__ }                                     \
    out[blockIdx.x * blockDim.x + t] = x + y;                                                         \
  }

KERNEL(nothing, asm volatile("add.u32 %0, %0, %1;" : "+r"(x) : "r"(z));)
KERNEL(s2r_laneid, asm volatile("{ .reg .u32 a; mov.u32 a, %laneid; add.u32 %0, %0, a; }" : "+r"(x));)
KERNEL(s2r_tid_y, asm volatile("{ .reg .u32 a; mov.u32 a, %tid.y; add.u32 %0, %0, a; }" : "+r"(x));)
KERNEL(s2r_smid, asm volatile("{ .reg .u32 a; mov.u32 a, %smid; add.u32 %0, %0, a; }" : "+r"(x));)
KERNEL(s2r_warpid, asm volatile("{ .reg .u32 a; mov.u32 a, %warpid; add.u32 %0, %0, a; }" : "+r"(x));)
KERNEL(s2r_ctaid, asm volatile("{ .reg .u32 a; mov.u32 a, %ctaid.y; add.u32 %0, %0, a; }" : "+r"(x));)
KERNEL(cs2r_clock, asm volatile("{ .reg .u32 a; mov.u32 a, %clock; add.u32 %0, %0, a; }" : "+r"(x));)
KERNEL(shfl_idx, asm volatile("shfl.sync.idx.b32 %0, %0, %1, 31, -1;" : "+r"(x) : "r"((lane + 1) % 32));)
KERNEL(shfl_off, asm volatile("{ .reg .pred p; setp.eq.u32 p, %1, 1; @p shfl.sync.bfly.b32 %0, %0, 1, 31, -1; }" : "+r"(x) : "r"(z));)
KERNEL(shfl_bfly, asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, -1;" : "+r"(x));)
KERNEL(vote, asm volatile("{ .reg .pred p; setp.ne.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, -1; }" : "+r"(x) : "r"(z));)
KERNEL(match, asm volatile("match.any.sync.b32 %0, %0, -1;" : "+r"(x));)
KERNEL(redux, asm volatile("redux.sync.add.s32 %0, %0, -1;" : "+r"(x));)
KERNEL(bar_sync, asm volatile("bar.sync 0;");)
KERNEL(bar_red, asm volatile("{ .reg .pred p; setp.ne.u32 p, %0, %1; bar.red.popc.u32 %0, 0, p; }" : "+r"(x) : "r"(z));)
KERNEL(warpsync, asm volatile("bar.warp.sync -1;");)
KERNEL(membar_cta, asm volatile("fence.acq_rel.cta;" ::: "memory");)
KERNEL(membar_gl, asm volatile("fence.acq_rel.gpu;" ::: "memory");)
KERNEL(mufu, asm volatile("{ .reg .f32 a; mov.b32 a, %0; ex2.approx.ftz.f32 a, a; mov.b32 %0, a; }" : "+r"(x));)
KERNEL(i2f, asm volatile("{ .reg .f32 a; cvt.rn.f32.u32 a, %0; mov.b32 %0, a; }" : "+r"(x));)
KERNEL(popc, asm volatile("popc.b32 %0, %0;" : "+r"(x));)
KERNEL(fp64, asm volatile("{ .reg .f64 a; mov.b64 a, {%0, %0}; add.f64 a, a, a; mov.b64 {%0, _}, a; }" : "+r"(x));)
KERNEL(lds_32, asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(y) : "r"(base + 4 * t)); x += y;)
KERNEL(lds_off, asm volatile("{ .reg .pred p; setp.eq.u32 p, %2, 1; @p ld.volatile.shared.u32 %0, [%1]; }" : "+r"(y) : "r"(s), "r"(z));)
KERNEL(sts_32, asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(base + 4 * t), "r"(x));)
KERNEL(sts_128, asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(s), "r"(x));)
KERNEL(sts_off, asm volatile("{ .reg .pred p; setp.eq.u32 p, %2, 1; @p st.volatile.shared.u32 [%0], %1; }" ::"r"(s), "r"(x), "r"(z));)
KERNEL(ldg_8, { uint16_t v; asm volatile("ld.volatile.global.u8 %0, [%1];" : "=h"(v) : "l"(reinterpret_cast<char*>(g))); x += v; })
KERNEL(ldg_32, asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(y) : "l"(data + t)); x += y;)
KERNEL(ldg_32_strided, asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(y) : "l"(g)); x += y;)
KERNEL(ldg_128, { uint32_t b, c, d; asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(y), "=r"(b), "=r"(c), "=r"(d) : "l"(g)); x += y + b + c + d; })
KERNEL(ldg_nc, asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(y) : "l"(data + t + (x & z))); x += y;)
KERNEL(ldg_off, asm volatile("{ .reg .pred p; setp.eq.u32 p, %2, 1; @p ld.volatile.global.u32 %0, [%1]; }" : "+r"(y) : "l"(g), "r"(z));)
KERNEL(stg_8, asm volatile("st.volatile.global.u8 [%0], %1;" ::"l"(reinterpret_cast<char*>(data) + blockIdx.x * 1024 + t), "h"(uint16_t(x)));)
KERNEL(stg_16, asm volatile("st.volatile.global.u16 [%0], %1;" ::"l"(reinterpret_cast<char*>(data) + blockIdx.x * 1024 + 2 * t), "h"(uint16_t(x)));)
KERNEL(stg_32, asm volatile("st.volatile.global.u32 [%0], %1;" ::"l"(data + blockIdx.x * 256 + t), "r"(x));)
KERNEL(stg_32_strided, asm volatile("st.volatile.global.u32 [%0], %1;" ::"l"(g), "r"(x));)
KERNEL(stg_32_far, asm volatile("st.volatile.global.u32 [%0], %1;" ::"l"(data + (blockIdx.x * 64 + t) * 32), "r"(x));)
KERNEL(stg_64, asm volatile("st.volatile.global.v2.u32 [%0], {%1, %1};" ::"l"(data + blockIdx.x * 256 + 2 * t), "r"(x));)
KERNEL(stg_128, asm volatile("st.volatile.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(g), "r"(x));)
KERNEL(stg_one_lane, asm volatile("{ .reg .pred p; setp.eq.u32 p, %2, 0; @p st.volatile.global.u32 [%0], %1; }" ::"l"(g), "r"(x), "r"(lane));)
KERNEL(stg_half, asm volatile("{ .reg .pred p; setp.lt.u32 p, %2, 16; @p st.volatile.global.u32 [%0], %1; }" ::"l"(data + blockIdx.x * 256 + t), "r"(x), "r"(lane));)
KERNEL(stg_off, asm volatile("{ .reg .pred p; setp.eq.u32 p, %2, 1; @p st.volatile.global.u32 [%0], %1; }" ::"l"(g), "r"(x), "r"(z));)
KERNEL(red_global, asm volatile("red.global.add.u32 [%0], %1;" ::"l"(g), "r"(x));)
KERNEL(red_global_one, asm volatile("red.global.add.u32 [%0], %1;" ::"l"(data + blockIdx.x), "r"(1 + z));)
KERNEL(atom_global, asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(y) : "l"(g), "r"(x)); x += y;)
KERNEL(atom_global_one, asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(y) : "l"(data + blockIdx.x), "r"(x)); x += y;)
KERNEL(cas_global, asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;" : "=r"(y) : "l"(g), "r"(x), "r"(z)); x += y;)
KERNEL(atoms_add, asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(y) : "r"(base + 4 * t), "r"(x)); x += y;)
KERNEL(atoms_strided, asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(y) : "r"(s), "r"(x)); x += y;)
KERNEL(atoms_one, asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(base));)
KERNEL(atoms_one_value, asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(base), "r"(x));)
KERNEL(atoms_one_max, asm volatile("red.shared.max.u32 [%0], %1;" ::"r"(base), "r"(x));)
KERNEL(atoms_two, asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(base + 4 * (t % 2)), "r"(x));)
KERNEL(atoms_same_bank, asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(base + 128 * (t % 32)), "r"(x));)
KERNEL(atoms_exch, asm volatile("atom.shared.exch.b32 %0, [%1], %2;" : "=r"(y) : "r"(base + 4 * t), "r"(x)); x += y;)
KERNEL(atoms_cas, asm volatile("atom.shared.cas.b32 %0, [%1], %2, %3;" : "=r"(y) : "r"(base + 4 * t), "r"(x), "r"(z)); x += y;)
KERNEL(ldl, { volatile uint32_t a[4]; a[(t + z) % 4] = x; x += a[(t + i) % 4]; })
KERNEL(ldsm_1, asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(y) : "r"(base + 16 * lane + (x & z))); x += y;)
KERNEL(ldsm_2, { uint32_t b; asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(y), "=r"(b) : "r"(base + 16 * lane + (x & z))); x += y + b; })
KERNEL(ldsm_4, { uint32_t b, c, d; asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(y), "=r"(b), "=r"(c), "=r"(d) : "r"(base + 16 * lane + (x & z))); x += y + b + c + d; })
KERNEL(ldsm_4_conflicts, { uint32_t b, c, d; asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(y), "=r"(b), "=r"(c), "=r"(d) : "r"(base + 128 * lane + (x & z))); x += y + b + c + d; })
KERNEL(ldsm_4t, { uint32_t b, c, d; asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(y), "=r"(b), "=r"(c), "=r"(d) : "r"(base + 16 * lane + (x & z))); x += y + b + c + d; })
KERNEL(stsm_4, asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(base + 16 * lane), "r"(x));)
KERNEL(ldgsts_4, asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(base + 4 * t), "l"(data + t));)
KERNEL(ldgsts_8, asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(base + 8 * t), "l"(data + 2 * t));)
KERNEL(ldgsts_16, asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(s), "l"(g));)
KERNEL(ldgsts_16_cg, asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(s), "l"(g));)
KERNEL(ldgsts_16_conflicts, asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(base + 128 * lane), "l"(g));)
KERNEL(ldgsts_16_row, asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(s), "l"(data + (t / 8) * 64 + (t % 8) * 4));)
KERNEL(ldgsts_zfill, asm volatile("{ .reg .u32 n; mov.u32 n, %2; cp.async.cg.shared.global [%0], [%1], 16, n; }" ::"r"(s), "l"(g), "r"(z));)
KERNEL(ldgsts_off, asm volatile("{ .reg .pred p; setp.eq.u32 p, %2, 1; @p cp.async.cg.shared.global [%0], [%1], 16; }" ::"r"(s), "l"(g), "r"(z));)
KERNEL(ldgsts_commit, asm volatile("cp.async.commit_group;");)
KERNEL(ldgsts_wait, asm volatile("cp.async.commit_group; cp.async.wait_group 0;");)
KERNEL(hmma, asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%0, %1}, {%0}, {%0, %1};" : "+r"(x), "+r"(y));)
KERNEL(movm, asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(x));)
KERNEL(generic_ld_shared, { asm volatile("ld.volatile.u32 %0, [%1];" : "=r"(y) : "l"(reinterpret_cast<char*>(memory) + 4 * t + z)); x += y; })
KERNEL(generic_ld_global, asm volatile("ld.volatile.u32 %0, [%1];" : "=r"(y) : "l"(data + t)); x += y;)
KERNEL(ldc, { x += *reinterpret_cast<volatile const uint32_t*>(constants + (x + lane) % 64); })
KERNEL(prefetch, asm volatile("prefetch.global.L2 [%0];" ::"l"(g));)

constexpr int kCtas = 8, kThreads = 64;

#define EACH(NAME)                                                            \
  NAME<0><<<kCtas, kThreads>>>(out, data, 0);                                 \
  NAME<8><<<kCtas, kThreads>>>(out, data, 0);                                 \
  NAME<24><<<kCtas, kThreads>>>(out, data, 0);                                \
  if (cudaDeviceSynchronize() != cudaSuccess) return std::printf("%s: %s\n", #NAME, cudaGetErrorString(cudaGetLastError())), 1;

int main() {
  uint32_t *out = nullptr, *data = nullptr;
  cudaMalloc(&out, 1 << 20);
  cudaMalloc(&data, 1 << 20);
  cudaMemset(data, 0, 1 << 20);
  EACH(nothing)
  EACH(s2r_laneid)
  EACH(s2r_tid_y)
  EACH(s2r_smid)
  EACH(s2r_warpid)
  EACH(s2r_ctaid)
  EACH(cs2r_clock)
  EACH(shfl_idx)
  EACH(shfl_off)
  EACH(shfl_bfly)
  EACH(vote)
  EACH(match)
  EACH(redux)
  EACH(bar_sync)
  EACH(bar_red)
  EACH(warpsync)
  EACH(membar_cta)
  EACH(membar_gl)
  EACH(mufu)
  EACH(i2f)
  EACH(popc)
  EACH(fp64)
  EACH(lds_32)
  EACH(lds_off)
  EACH(sts_32)
  EACH(sts_128)
  EACH(sts_off)
  EACH(ldg_8)
  EACH(ldg_32)
  EACH(ldg_32_strided)
  EACH(ldg_128)
  EACH(ldg_nc)
  EACH(ldg_off)
  EACH(stg_8)
  EACH(stg_16)
  EACH(stg_32)
  EACH(stg_32_strided)
  EACH(stg_32_far)
  EACH(stg_64)
  EACH(stg_128)
  EACH(stg_one_lane)
  EACH(stg_half)
  EACH(stg_off)
  EACH(red_global)
  EACH(red_global_one)
  EACH(atom_global)
  EACH(atom_global_one)
  EACH(cas_global)
  EACH(atoms_add)
  EACH(atoms_strided)
  EACH(atoms_one)
  EACH(atoms_one_value)
  EACH(atoms_one_max)
  EACH(atoms_two)
  EACH(atoms_same_bank)
  EACH(atoms_exch)
  EACH(atoms_cas)
  EACH(ldl)
  EACH(ldsm_1)
  EACH(ldsm_2)
  EACH(ldsm_4)
  EACH(ldsm_4_conflicts)
  EACH(ldsm_4t)
  EACH(stsm_4)
  EACH(ldgsts_4)
  EACH(ldgsts_8)
  EACH(ldgsts_16)
  EACH(ldgsts_16_cg)
  EACH(ldgsts_16_conflicts)
  EACH(ldgsts_16_row)
  EACH(ldgsts_zfill)
  EACH(ldgsts_off)
  EACH(ldgsts_commit)
  EACH(ldgsts_wait)
  EACH(hmma)
  EACH(movm)
  EACH(generic_ld_shared)
  EACH(generic_ld_global)
  EACH(ldc)
  EACH(prefetch)
  std::printf("done\n");
  return 0;
}
