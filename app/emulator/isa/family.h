#pragma once
#include <cstdint>

namespace attnscope::emulator {

// What an instruction computes. Lane families have code for each instruction set of the host, uniform ones share one.
// Forms that kernels spend little time in are `general`: their rows of forms.inc name their handlers.
// clang-format off
#define ATTNSCOPE_LANE_FAMILIES(X)                                                                                     \
  X(mov) X(fadd) X(fmul) X(ffma) X(fmnmx) X(sel) X(fsetp) X(hadd2_f32) X(f2fp_pack) X(mufu_ex2) X(mufu_rcp)            \
  X(iadd3) X(iadd3_carry) X(iadd3_x) X(imad) X(imad_x) X(imad_wide) X(imad_wide_u32) X(lea) X(lea_carry) X(lea_hi)     \
  X(lea_hi_sx32) X(lop3) X(prmt) X(shf_l) X(shf_l_u64_hi) X(shf_r_u32_hi) X(shf_r_s32_hi) X(shf_r_u64)                 \
  X(hmma) X(hmma_bf16) X(hmma_f16)                                                                                        \
  X(iminmax) X(iminmax3) X(iaddminmax) X(isetp) X(plop3) X(shfl_idx) X(shfl_up) X(shfl_down) X(shfl_bfly)              \
  X(lds_u16) X(lds_32) X(lds_64) X(lds_128) X(sts_u16) X(sts_32) X(sts_64) X(sts_128)                                  \
  X(ldsm) X(ldsm_transposed) X(ldgsts) X(ldg_u16) X(ldg_32) X(ldg_64) X(ldg_128) X(stg_u16) X(stg_32) X(stg_64) X(stg_128)

#define ATTNSCOPE_SCALAR_FAMILIES(X)                                                                                   \
  X(nop) X(general) X(bssy) X(break_barrier) X(ldl_32) X(stl_32) X(r2ur) X(umov) X(umov_64) X(uiadd3) X(uimad)         \
  X(uimad_wide_u32) X(uisetp) X(ulea) X(ulea_hi) X(ulea_hi_sx32) X(ulop3) X(uplop3) X(usel) X(ushf_l_u32) X(ushf_l_u64_hi) X(ushf_r_s32_hi) \
  X(ushf_r_u32_hi) X(voteu_all) X(voteu_any)

// Instructions that end a straight run: they move, split, join or park the active lanes (control.cpp).
#define ATTNSCOPE_CONTROL_FAMILIES(X)                                                                                  \
  X(bra) X(bra_any) X(bra_div) X(bra_conv) X(bsync) X(warpsync) X(endcollective) X(ret) X(call_absolute) X(exit)        \
  X(bar_sync) X(bar_arrive) X(bar_reduce) X(brx)
// clang-format on

enum class Family : uint8_t {
#define X(name) name,
  ATTNSCOPE_LANE_FAMILIES(X) ATTNSCOPE_SCALAR_FAMILIES(X) ATTNSCOPE_CONTROL_FAMILIES(X)
#undef X
      count
};

constexpr bool is_uniform(Family family) { return family >= Family::umov && family <= Family::ushf_r_u32_hi; }
constexpr bool is_shuffle(Family family) { return family >= Family::shfl_idx && family <= Family::shfl_bfly; }
constexpr bool is_control(Family family) { return family >= Family::bra; }

// Which source has one value for all lanes (an immediate, a constant, a uniform register), and whether any source has a
// sign or absolute-value modifier. Each combination is compiled separately.
struct Variant {
  enum { none = 0, a = 1, b = 2, c = 3, modified = 4, count = 8 };
};

}  // namespace attnscope::emulator
