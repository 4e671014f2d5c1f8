#include "emulator/isa/forms.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "emulator/emulator.h"
#include "emulator/exec/general.h"
#include "emulator/isa/recorded_forms.h"

namespace attnscope::emulator {

namespace {

using C = InstructionClass;
using S = SourceModifiers;
constexpr Family G = Family::general;

// The tested list. {x,y} stands for both spellings; operand letters: R register, U uniform register, P predicate,
// Q uniform predicate, I integer immediate, F floating-point immediate, C constant bank, L label, B convergence
// barrier. A row is added together with tests of it (docs/emulator.md, "Adding a form"). Rows of Family::general count
// only as far as recorded_forms.inc goes, sources of other kinds included (RecordedKin).
struct Row {
  std::string_view spelling;
  Form form;
};
constexpr Row rows[] = {
    // Floating point, 32 bits.
    {"FADD{,.FTZ}{,.RM,.RP,.RZ} R,R,{R,F,C,U}", {Family::fadd, "dab", S::sign, C::fp32}},
    {"FMUL{,.FTZ}{,.RM,.RP,.RZ} R,R,{R,F,C,U}", {Family::fmul, "dab", S::sign, C::fp32}},
    {"FFMA{,.FTZ}{,.RM,.RP,.RZ} R,R,{R,F,C,U},R", {Family::ffma, "dabc", S::sign, C::fp32}},
    {"FFMA{,.FTZ}{,.RM,.RP,.RZ} R,R,R,{F,C,U}", {Family::ffma, "dabc", S::sign, C::fp32}},
    {"FMNMX{,.FTZ} R,R,{R,F,C,U},P", {Family::fmnmx, "dabx", S::sign, C::fp32}},
    {"FSEL R,R,{R,F,C,U},P", {Family::sel, "dabx", S::sign, C::fp32}},
    {"FSETP.{LT,EQ,LE,GT,NE,GE,NUM,NAN,LTU,EQU,LEU,GTU,NEU,GEU}{,.FTZ}.{AND,OR,XOR} P,P,R,{R,F,C,U},P",
     {Family::fsetp, "pqabx", S::sign, C::fp32}},
    {"MUFU.EX2 R,{R,C,U}", {Family::mufu_ex2, "da", S::sign, C::mufu}},
    {"MUFU.RCP R,{R,C,U}", {Family::mufu_rcp, "da", S::sign, C::mufu}},
    // Halves and conversions. HFMA2.MMA of -0·0 + constants only makes constants.
    {"HADD2.F32 R,R,{R,C,U}.{H0_H0,H1_H1}", {Family::hadd2_f32, "d-b", S::sign, C::fp16}},
    {"HFMA2 constant", {Family::mov, "d-0hl", S::none, C::fp16}},
    {"F2FP{.F16.F32,}.PACK_AB R,R,{R,F,C,U}", {Family::f2fp_pack, "dab", S::sign, C::conversion}},
    // Tensor Cores (tensor_core.h).
    {"HMMA.16816.F32 R,R,R,R", {Family::hmma, "dabc", S::none, C::tensor}},
    {"HMMA.16816.F32.BF16 R,R,R,R", {Family::hmma_bf16, "dabc", S::none, C::tensor}},
    {"HMMA.16816.F16 R,R,R,R", {Family::hmma_f16, "dabc", S::none, C::tensor}},
    {"HMMA.1688.F32 R,R,R,R", {Family::hmma, "dabc", S::none, C::tensor}},
    {"HMMA.1688.F32.BF16 R,R,R,R", {Family::hmma_bf16, "dabc", S::none, C::tensor}},
    {"HMMA.1688.F16 R,R,R,R", {Family::hmma_f16, "dabc", S::none, C::tensor}},
    {"IMMA{.16816,.8816}.{S8,U8}.{S8,U8} R,R.ROW,R.COL,R", {G, "dabc", S::none, C::tensor, g_imma}},
    {"IMMA.16832.{S8,U8}.{S8,U8}{,.SAT} R,R.ROW,R.COL,R", {G, "dabc", S::none, C::tensor, g_imma}},
    {"DMMA{.8x8x4,.884} R,R,R,R", {G, "dwvk", S::none, C::tensor, g_dmma}},
    {"HMMA.{1684,1688}.F32.TF32 R,R,R,R", {G, "dabc", S::none, C::tensor, g_hmma_tf32}},
    // Integer arithmetic.
    {"IADD3 R,R,{R,I,C,U},R", {Family::iadd3, "dabc", S::negate, C::integer}},
    {"IADD3 R,R,R,{I,C,U}", {Family::iadd3, "dabc", S::negate, C::integer}},
    {"IADD3 R,P,R,{R,I,C,U},R", {Family::iadd3_carry, "dpabc", S::negate, C::integer}},
    {"IADD3 R,P,R,R,{I,C,U}", {Family::iadd3_carry, "dpabc", S::negate, C::integer}},
    {"IADD3 R,P,P,R,{R,I,C,U},R", {Family::iadd3_carry, "dpqabc", S::negate, C::integer}},
    {"IADD3 R,P,P,R,R,{I,C,U}", {Family::iadd3_carry, "dpqabc", S::negate, C::integer}},
    {"IADD3.X R,R,{R,I,C,U},R,P,P", {Family::iadd3_x, "dabcxy", S::invert, C::integer}},
    {"IADD3.X R,R,R,{I,C,U},P,P", {Family::iadd3_x, "dabcxy", S::invert, C::integer}},
    {"VIADD R,R,{R,I,U}", {Family::iadd3, "dab", S::negate, C::integer}},
    {"IMAD{,.U32,.MOV,.MOV.U32,.IADD,.IADD.U32,.SHL.U32} R,R,{R,I,C,U},R",
     {Family::imad, "dabc", S::negate, C::integer}},
    {"IMAD{,.U32,.MOV,.MOV.U32,.IADD,.IADD.U32,.SHL.U32} R,R,R,{I,C,U}", {Family::imad, "dabc", S::negate, C::integer}},
    {"IMAD.X R,R,{R,I,C,U},R,P", {Family::imad_x, "dabcx", S::invert, C::integer}},
    {"IMAD.X R,R,R,{I,C,U},P", {Family::imad_x, "dabcx", S::invert, C::integer}},
    {"IMAD.WIDE R,R,{R,I,C,U},R", {Family::imad_wide, "dabk", S::none, C::integer}},
    {"IMAD.WIDE R,R,R,{I,C,U}", {Family::imad_wide, "dabk", S::none, C::integer}},
    {"IMAD.WIDE.U32 R,R,{R,I,C,U},R", {Family::imad_wide_u32, "dabk", S::none, C::integer}},
    {"IMAD.WIDE.U32 R,R,R,{I,C,U}", {Family::imad_wide_u32, "dabk", S::none, C::integer}},
    {"LEA R,R,{R,I,C,U},I", {Family::lea, "dabi", S::negate, C::integer}},
    {"LEA R,P,R,{R,I,C,U},I", {Family::lea_carry, "dpabi", S::none, C::integer}},
    {"LEA.HI R,R,{R,I,C,U},R,I", {Family::lea_hi, "dabci", S::negate, C::integer}},
    {"LEA.HI R,R,R,{I,C,U},I", {Family::lea_hi, "dabci", S::negate, C::integer}},
    {"LEA.HI.X R,R,{R,I,C,U},R,I,P", {Family::lea_hi, "dabcix", S::none, C::integer}},
    {"LEA.HI.X R,R,R,{I,C,U},I,P", {Family::lea_hi, "dabcix", S::none, C::integer}},
    {"LEA.HI.SX32 R,R,{R,I,C,U},I", {Family::lea_hi_sx32, "dabi", S::none, C::integer}},
    {"LEA.HI.X.SX32 R,R,{R,I,C,U},I,P", {Family::lea_hi_sx32, "dabix", S::none, C::integer}},
    {"LOP3.LUT R,R,{R,I,C,U},R,I,P", {Family::lop3, "dabciN", S::none, C::integer}},
    {"LOP3.LUT R,R,R,{I,C,U},I,P", {Family::lop3, "dabciN", S::none, C::integer}},
    {"LOP3.LUT P,R,R,{R,I,C,U},R,I,P", {Family::lop3, "pdabciN", S::none, C::integer}},
    {"LOP3.LUT P,R,R,R,{I,C,U},I,P", {Family::lop3, "pdabciN", S::none, C::integer}},
    {"PRMT R,R,{R,I,C,U},R", {Family::prmt, "dabc", S::none, C::integer}},
    {"PRMT R,R,R,{I,C,U}", {Family::prmt, "dabc", S::none, C::integer}},
    {"SHF.L.U32 R,R,{R,I,C,U},R", {Family::shf_l, "dabc", S::none, C::integer}},
    {"SHF.L.U32 R,R,R,{I,C,U}", {Family::shf_l, "dabc", S::none, C::integer}},
    {"SHF.L.U64.HI R,R,{R,I,C,U},R", {Family::shf_l_u64_hi, "dabc", S::none, C::integer}},
    {"SHF.L.U64.HI R,R,R,{I,C,U}", {Family::shf_l_u64_hi, "dabc", S::none, C::integer}},
    {"SHF.R.U32.HI R,R,{R,I,C,U},R", {Family::shf_r_u32_hi, "dabc", S::none, C::integer}},
    {"SHF.R.U32.HI R,R,R,{I,C,U}", {Family::shf_r_u32_hi, "dabc", S::none, C::integer}},
    {"SHF.R.S32.HI R,R,{R,I,C,U},R", {Family::shf_r_s32_hi, "dabc", S::none, C::integer}},
    {"SHF.R.S32.HI R,R,R,{I,C,U}", {Family::shf_r_s32_hi, "dabc", S::none, C::integer}},
    {"SHF.R.U64 R,R,{R,I,C,U},R", {Family::shf_r_u64, "dabc", S::none, C::integer}},
    {"SHF.R.U64 R,R,R,{I,C,U}", {Family::shf_r_u64, "dabc", S::none, C::integer}},
    {"IMNMX{,.U32} R,R,{R,I,C,U},P", {Family::iminmax, "dabx", S::none, C::integer}},
    {"VIMNMX{,.U32,.RELU} R,R,{R,I,U},P", {Family::iminmax, "dabx", S::none, C::integer}},
    {"VIMNMX3{,.U32,.RELU} R,R,{R,I,U},R,P", {Family::iminmax3, "dabcx", S::none, C::integer}},
    {"VIADDMNMX{,.U32,.RELU} R,R,{R,I,U},R,P", {Family::iaddminmax, "dabcx", S::negate, C::integer}},
    {"VIADDMNMX{,.U32,.RELU} R,R,R,{I,U},P", {Family::iaddminmax, "dabcx", S::negate, C::integer}},
    {"ISETP.{LT,EQ,LE,GT,NE,GE}{,.U32}.{AND,OR,XOR} P,P,R,{R,I,C,U},P", {Family::isetp, "pqabx", S::none, C::integer}},
    {"SEL R,R,{R,I,C,U},P", {Family::sel, "dabx", S::none, C::integer}},
    {"PLOP3.LUT P,P,P,P,{P,Q},I,I", {Family::plop3, "pqxyzij", S::none, C::predicate}},
    // Moves.
    {"MOV R,{R,I,C,U}", {Family::mov, "da", S::none, C::move}},
    {"CS2R R,SRZ", {Family::imad_wide_u32, "d", S::none, C::move}},
    {"CS2R.32 R,SRZ", {Family::mov, "d", S::none, C::move}},
    {"S2R R,{SR_TID.X,SR_TID.Y,SR_TID.Z,SR_CTAID.X,SR_CTAID.Y,SR_CTAID.Z,SR_LANEID,SR_CgaCtaId,SR_SWINHI}",
     {Family::mov, "da", S::none, C::move}},
    {"LDC R,C", {Family::mov, "da", S::none, C::constant_load}},
    {"LDC.64 R,C", {Family::imad_wide_u32, "dk", S::none, C::constant_load}},
    // The uniform datapath.
    {"S2UR U,{SR_CTAID.X,SR_CTAID.Y,SR_CTAID.Z,SR_CgaCtaId}", {Family::umov, "Da", S::none, C::uniform}},
    {"R2UR U,R", {Family::r2ur, "Da", S::none, C::uniform}},
    {"UMOV U,{U,I}", {Family::umov, "Da", S::none, C::uniform}},
    {"ULDC U,C", {Family::umov, "Da", S::none, C::uniform}},
    {"ULDC.64 U,C", {Family::umov_64, "Dw", S::none, C::uniform}},
    {"UIADD3 U,U,{U,I},U", {Family::uiadd3, "Dabc", S::negate, C::uniform}},
    {"UIADD3 U,Q,U,{U,I},U", {Family::uiadd3, "Dpabc", S::negate, C::uniform}},
    {"UIADD3 U,Q,Q,U,{U,I},U", {Family::uiadd3, "Dpqabc", S::negate, C::uniform}},
    {"UIADD3.X U,U,{U,I},U,Q,Q", {Family::uiadd3, "Dabcxy", S::invert, C::uniform}},
    {"UIMAD U,U,{U,I},U", {Family::uimad, "Dabc", S::negate, C::uniform}},
    {"UIMAD U,U,U,I", {Family::uimad, "Dabc", S::negate, C::uniform}},
    {"UIMAD.WIDE.U32 U,U,{U,I},U", {Family::uimad_wide_u32, "Dabk", S::none, C::uniform}},
    {"UISETP.{LT,EQ,LE,GT,NE,GE}{,.U32}.{AND,OR} Q,Q,U,{U,I},Q", {Family::uisetp, "pqabx", S::none, C::uniform}},
    {"ULEA U,U,{U,I},I", {Family::ulea, "Dabi", S::none, C::uniform}},
    {"ULEA U,Q,U,{U,I},I", {Family::ulea, "Dpabi", S::none, C::uniform}},
    {"ULEA.HI U,U,{U,I},U,I", {Family::ulea_hi, "Dabci", S::none, C::uniform}},
    {"ULEA.HI U,Q,U,{U,I},U,I", {Family::ulea_hi, "Dpabci", S::none, C::uniform}},
    {"ULEA.HI.X U,U,{U,I},U,I,Q", {Family::ulea_hi, "Dabcix", S::none, C::uniform}},
    {"ULEA.HI.SX32 U,U,{U,I},I", {Family::ulea_hi_sx32, "Dabi", S::none, C::uniform}},
    {"ULEA.HI.X.SX32 U,U,{U,I},I,Q", {Family::ulea_hi_sx32, "Dabix", S::none, C::uniform}},
    {"ULOP3.LUT U,U,{U,I},U,I,Q", {Family::ulop3, "DabciN", S::none, C::uniform}},
    {"ULOP3.LUT Q,U,U,{U,I},U,I,Q", {Family::ulop3, "pDabciN", S::none, C::uniform}},
    {"USEL U,U,{U,I},Q", {Family::usel, "Dabx", S::none, C::uniform}},
    {"USHF.L.U32 U,U,{U,I},U", {Family::ushf_l_u32, "Dabc", S::none, C::uniform}},
    {"USHF.L.U64.HI U,U,{U,I},U", {Family::ushf_l_u64_hi, "Dabc", S::none, C::uniform}},
    {"USHF.R.U32.HI U,U,{U,I},U", {Family::ushf_r_u32_hi, "Dabc", S::none, C::uniform}},
    {"USHF.R.S32.HI U,U,{U,I},U", {Family::ushf_r_s32_hi, "Dabc", S::none, C::uniform}},
    // Between lanes.
    {"VOTEU.ALL Q,P", {Family::voteu_all, "px", S::none, C::uniform}},
    {"VOTEU.ANY Q,P", {Family::voteu_any, "px", S::none, C::uniform}},
    {"SHFL.IDX P,R,R,{R,I},{R,I}", {Family::shfl_idx, "pdabc", S::none, C::shuffle}},
    {"SHFL.UP P,R,R,{R,I},{R,I}", {Family::shfl_up, "pdabc", S::none, C::shuffle}},
    {"SHFL.DOWN P,R,R,{R,I},{R,I}", {Family::shfl_down, "pdabc", S::none, C::shuffle}},
    {"SHFL.BFLY P,R,R,{R,I},{R,I}", {Family::shfl_bfly, "pdabc", S::none, C::shuffle}},
    // Memory. Cache hints (.CONSTANT, .LU) and descriptors change no value.
    {"LDS.U16 R,[{R,R.X4,R.X8,R.X16,U,R+U,R.X4+U,R.X8+U,R.X16+U,}]", {Family::lds_u16, "dm", S::none, C::shared_load}},
    {"LDS R,[{R,R.X4,R.X8,R.X16,U,R+U,R.X4+U,R.X8+U,R.X16+U,}]", {Family::lds_32, "dm", S::none, C::shared_load}},
    {"LDS.64 R,[{R,R.X4,R.X8,R.X16,U,R+U,R.X4+U,R.X8+U,R.X16+U,}]", {Family::lds_64, "dm", S::none, C::shared_load}},
    {"LDS.128 R,[{R,R.X4,R.X8,R.X16,U,R+U,R.X4+U,R.X8+U,R.X16+U,}]", {Family::lds_128, "dm", S::none, C::shared_load}},
    {"STS.U16 [{R,R.X4,R.X8,R.X16,U,R+U,R.X4+U,R.X8+U,R.X16+U,}],R", {Family::sts_u16, "mc", S::none, C::shared_store}},
    {"STS [{R,R.X4,R.X8,R.X16,U,R+U,R.X4+U,R.X8+U,R.X16+U,}],R", {Family::sts_32, "mc", S::none, C::shared_store}},
    {"STS.64 [{R,R.X4,R.X8,R.X16,U,R+U,R.X4+U,R.X8+U,R.X16+U,}],R", {Family::sts_64, "mc", S::none, C::shared_store}},
    {"STS.128 [{R,R.X4,R.X8,R.X16,U,R+U,R.X4+U,R.X8+U,R.X16+U,}],R", {Family::sts_128, "mc", S::none, C::shared_store}},
    {"LDG.E{,.EF,.EL,.NA,.LU}{,.LTC64B,.LTC128B}.U16{,.CONSTANT} R,{,d}[R.64]",
     {Family::ldg_u16, "dm", S::none, C::global_load}},
    {"LDG.E{,.EF,.EL,.NA,.LU}{,.LTC64B,.LTC128B}{,.CONSTANT} R,{,d}[R.64]",
     {Family::ldg_32, "dm", S::none, C::global_load}},
    {"LDG.E{,.EF,.EL,.NA,.LU}{,.LTC64B,.LTC128B}.64{,.CONSTANT} R,{,d}[R.64]",
     {Family::ldg_64, "dm", S::none, C::global_load}},
    {"LDG.E{,.EF,.EL,.NA,.LU}{,.LTC64B,.LTC128B}.128{,.CONSTANT} R,{,d}[R.64]",
     {Family::ldg_128, "dm", S::none, C::global_load}},
    {"STG.E{,.EF,.EL,.NA}.U16 {,d}[R.64],R", {Family::stg_u16, "mc", S::none, C::global_store}},
    {"STG.E{,.EF,.EL,.NA} {,d}[R.64],R", {Family::stg_32, "mc", S::none, C::global_store}},
    {"STG.E{,.EF,.EL,.NA}.64 {,d}[R.64],R", {Family::stg_64, "mc", S::none, C::global_store}},
    {"STG.E{,.EF,.EL,.NA}.128 {,d}[R.64],R", {Family::stg_128, "mc", S::none, C::global_store}},
    {"LDL{,.LU} R,[R]", {Family::ldl_32, "dm", S::none, C::local_load}},
    {"STL [R],R", {Family::stl_32, "mc", S::none, C::local_store}},
    // The rest has one handler for every host (general.h).
    {"POPC R,{R,I,C,U}", {G, "da", S::invert, C::integer, g_popc}},
    {"BREV R,{R,I,C,U}", {G, "da", S::none, C::integer, g_brev}},
    {"FLO{,.U32}{,.SH} R,{R,I,C,U}", {G, "da", S::invert, C::integer, g_flo}},
    {"BMSK{,.W} R,R,{R,I,C,U}", {G, "dab", S::none, C::integer, g_bmsk}},
    {"SGXT{,.W}{,.U32} R,R,{R,I,C,U}", {G, "dab", S::none, C::integer, g_sgxt}},
    {"IABS R,{R,I,C,U}", {G, "da", S::negate, C::integer, g_iabs}},
    {"IMAD.HI{,.U32} R,R,{R,I,C,U},R", {G, "dabk", S::none, C::integer, g_imad_hi}},
    {"IMAD.HI{,.U32} R,R,R,{C,U}", {G, "dabk", S::none, C::integer, g_imad_hi}},
    {"IMAD.HI.U32 R,P,R,{R,I,C,U},R", {G, "dpabk", S::none, C::integer, g_imad_hi_carry}},
    {"IMAD.WIDE.U32 R,P,R,{R,I,C,U},R", {G, "dpabk", S::none, C::integer, g_imad_wide_carry}},
    {"IMAD.WIDE.U32.X R,R,{R,I,C,U},R,P", {G, "dabkx", S::none, C::integer, g_imad_wide_x}},
    {"IMAD.U32.X R,R,{R,I,C,U},R,P", {G, "dabcx", S::invert, C::integer, g_imad_x}},
    {"IADD3.X R,P,R,{R,I,C,U},R,P,P", {G, "dpabcxy", S::invert, C::integer, g_iadd3_x_carry}},
    {"IADD3.X R,P,P,R,{R,I,C,U},R,P,P", {G, "dpqabcxy", S::invert, C::integer, g_iadd3_x_carry}},
    {"LEA.HI R,P,R,{R,I,C,U},R,I", {G, "dpabci", S::none, C::integer, g_lea_hi_carry}},
    {"ISETP.{LT,EQ,LE,GT,NE,GE}{,.U32}.{AND,OR,XOR}.EX P,P,R,{R,I,C,U},P,P",
     {G, "pqabxy", S::none, C::integer, g_isetp_ex}},
    {"SHF.L{,.W}.U32.HI R,R,{R,I,C,U},R", {G, "dabc", S::none, C::integer, g_shf}},
    {"SHF.L{,.W}.U32.HI R,R,R,{I,C,U}", {G, "dabc", S::none, C::integer, g_shf}},
    {"SHF.R{,.W}.U32 R,R,{R,I,C,U},R", {G, "dabc", S::none, C::integer, g_shf}},
    {"SHF.R{,.W}.U32 R,R,R,{I,C,U}", {G, "dabc", S::none, C::integer, g_shf}},
    {"SHF.R.S64 R,R,{R,I,C,U},R", {G, "dabc", S::none, C::integer, g_shf}},
    {"SHF.R.S64 R,R,R,{I,C,U}", {G, "dabc", S::none, C::integer, g_shf}},
    {"VABSDIFF{,.U32} R,R,{R,I,C,U},R", {G, "dabc", S::none, C::integer, g_vabsdiff}},
    {"VABSDIFF{,.U32} R,R,R,{I,C,U}", {G, "dabc", S::none, C::integer, g_vabsdiff}},
    {"VABSDIFF4.{U8,S8}{,.ACC} R,R,{R,I,C,U},R", {G, "dabc", S::none, C::integer, g_vabsdiff4}},
    {"VABSDIFF4.{U8,S8}{,.ACC} R,R,R,{I,C,U}", {G, "dabc", S::none, C::integer, g_vabsdiff4}},
    {"IDP.4A.{U8,S8}.{U8,S8} R,R,{R,I,C,U},R", {G, "dabc", S::none, C::integer, g_idp}},
    {"IDP.4A.{U8,S8}.{U8,S8} R,R,R,{I,C,U}", {G, "dabc", S::none, C::integer, g_idp}},
    {"IDP.2A.{LO,HI}.{U16,S16}.{U8,S8} R,R,{R,I,C,U},R", {G, "dabc", S::none, C::integer, g_idp}},
    {"IDP.2A.{LO,HI}.{U16,S16}.{U8,S8} R,R,R,{I,C,U}", {G, "dabc", S::none, C::integer, g_idp}},
    {"VIADD.16x2 R,R,{R,I,U}", {G, "dab", S::negate, C::integer, g_viadd_16x2}},
    {"VIMNMX.{S16x2,U16x2}{,.RELU} R,R,{R,I,U},P", {G, "dabx", S::none, C::integer, g_vimnmx_16x2}},
    {"VIMNMX3.{S16x2,U16x2}{,.RELU} R,R,{R,I,U},R,P", {G, "dabcx", S::none, C::integer, g_vimnmx3_16x2}},
    {"VIADDMNMX.{S16x2,U16x2}{,.RELU} R,R,{R,I,U},R,P", {G, "dabcx", S::none, C::integer, g_viaddmnmx_16x2}},
    {"PRMT.{F4E,B4E,RC8,ECL,ECR,RC16} R,R,{R,I,C,U},R", {G, "dabc", S::none, C::integer, g_prmt}},
    {"P2R R,PR,R,I", {G, "dsai", S::none, C::predicate, g_p2r}},
    {"R2P PR,R,I", {G, "sai", S::none, C::predicate, g_r2p}},
    {"PLOP3.LUT P,P,R.SIGN,R.SIGN,R.SIGN,I,I", {G, "pqabcij", S::none, C::predicate, g_plop3_sign}},
    {"I2I.{U8,S8,U16,S16}.S32.SAT R,{R,C,U}", {G, "da", S::none, C::conversion, g_i2i}},
    {"I2IP.{U8,S8,U16,S16}.S32.SAT R,R,{R,C,U},R", {G, "dabc", S::none, C::conversion, g_i2ip}},
    // Floating point.
    {"FADD{,.FTZ}{,.RM,.RP,.RZ}.SAT R,R,{R,F,C,U}", {G, "dab", S::sign, C::fp32, g_fadd}},
    {"FMUL{,.FTZ}{,.RM,.RP,.RZ}.SAT R,R,{R,F,C,U}", {G, "dab", S::sign, C::fp32, g_fmul}},
    {"FMUL{,.FTZ}.{D2,D4,D8,M2,M4,M8} R,R,{R,F,C,U}", {G, "dab", S::sign, C::fp32, g_fmul_scaled}},
    {"FFMA{,.FTZ}{,.RM,.RP,.RZ}.SAT R,R,{R,F,C,U},R", {G, "dabc", S::sign, C::fp32, g_ffma}},
    {"FFMA{,.FTZ}{,.RM,.RP,.RZ}.SAT R,R,R,{F,C,U}", {G, "dabc", S::sign, C::fp32, g_ffma}},
    {"FMNMX{,.FTZ}{.NAN,.XORSIGN,.NAN.XORSIGN} R,R,{R,F,C,U},P", {G, "dabx", S::sign, C::fp32, g_fmnmx}},
    {"FSET{,.BF}.{LT,EQ,LE,GT,NE,GE,NUM,NAN,LTU,EQU,LEU,GTU,NEU,GEU}{,.FTZ}.{AND,OR,XOR} R,R,{R,F,C,U},P",
     {G, "dabx", S::sign, C::fp32, g_fset}},
    {"FCHK P,{R,C},{R,F,C,U}", {G, "pab", S::sign, C::fp32, g_fchk}},
    {"MUFU.{RSQ,SQRT,LG2,SIN,COS,TANH} R,{R,F,C,U}", {G, "da", S::sign, C::mufu, g_mufu}},
    {"MUFU.{EX2,TANH}.{F16,BF16} R,{R,R.H1}", {G, "da", S::sign, C::mufu, g_mufu_half}},
    {"MUFU.{RCP64H,RSQ64H} R,{R,F,I,C,U}", {G, "da", S::sign, C::mufu, g_mufu_64h}},
    {"DADD{,.RM,.RP,.RZ} R,R,{R,F,C,U}", {G, "dwv", S::sign, C::fp64, g_dadd}},
    {"DMUL{,.RM,.RP,.RZ} R,R,{R,F,C,U}", {G, "dwv", S::sign, C::fp64, g_dmul}},
    {"DFMA{,.RM,.RP,.RZ} R,R,{R,F,C,U},R", {G, "dwvk", S::sign, C::fp64, g_dfma}},
    {"DFMA{,.RM,.RP,.RZ} R,R,R,{F,C,U}", {G, "dwvk", S::sign, C::fp64, g_dfma}},
    {"DSETP.{LT,EQ,LE,GT,NE,GE,NUM,NAN,LTU,EQU,LEU,GTU,NEU,GEU}.{AND,OR,XOR} P,P,R,{R,F,C,U},P",
     {G, "pqwvx", S::sign, C::fp64, g_dsetp}},
    {"DSETP.{MIN,MAX}.AND P,P,R,{R,F,C,U},P", {G, "pqwvx", S::sign, C::fp64, g_dsetp_minmax}},
    {"F2F.{F32,F16}.F64{,.RM,.RP,.RZ} R,{R,C,U}", {G, "dw", S::sign, C::conversion, g_f2f}},
    {"F2F.{F16,BF16}.F32{,.RM,.RP,.RZ} R,{R,C,U}", {G, "da", S::sign, C::conversion, g_f2f}},
    {"F2F{,.FTZ}.F64.F32 R,{R,C,U}", {G, "da", S::sign, C::conversion, g_f2f}},
    {"F2F.F64.F16 R,{R,C,U}", {G, "da", S::sign, C::conversion, g_f2f}},
    {"F2I{,.FTZ}{,.U32,.S16,.U16}{,.F16,.BF16}{,.FLOOR,.CEIL,.TRUNC}.NTZ R,{R,C,U}",
     {G, "da", S::sign, C::conversion, g_f2i}},
    {"F2I{,.FTZ}{.S64,.U64}{,.F16}{,.FLOOR,.CEIL,.TRUNC} R,{R,C,U}", {G, "da", S::sign, C::conversion, g_f2i}},
    {"F2I{,.U32,.S64,.U64}.F64{,.FLOOR,.CEIL,.TRUNC} R,{R,C,U}", {G, "dw", S::sign, C::conversion, g_f2i}},
    {"I2F{,.F16,.BF16,.F64}{,.U32,.S16,.U16,.S8,.U8}{,.RM,.RP,.RZ} R,{R,R.H1,R.B1,R.B2,R.B3,I,C,U}",
     {G, "da", S::none, C::conversion, g_i2f}},
    {"I2F{,.F16,.BF16,.F64}{.S64,.U64}{,.RM,.RP,.RZ} R,{R,C,U}", {G, "dw", S::none, C::conversion, g_i2f}},
    {"I2FP.F32.{S32,U32}{,.RM,.RP,.RZ} R,{R,C,U}", {G, "da", S::none, C::conversion, g_i2f}},
    {"FRND{,.FTZ}{,.FLOOR,.CEIL,.TRUNC} R,{R,C,U}", {G, "da", S::sign, C::conversion, g_frnd}},
    {"FRND{.F16,.BF16}{,.FLOOR,.CEIL,.TRUNC} R,{R,R.H1}", {G, "da", S::sign, C::conversion, g_frnd}},
    {"FRND.F64{,.FLOOR,.CEIL,.TRUNC} R,{R,C,U}", {G, "dw", S::sign, C::conversion, g_frnd}},
    {"F2FP{,.RELU}{.F16.F32,.BF16.F32,.BF16,}{.PACK_AB.RZ,.MERGE_C,.MERGE_C.RZ} R,R,{R,C,U}",
     {G, "dab", S::sign, C::conversion, g_f2fp}},
    {"F2FP{.RELU,.RELU.F16.F32,.BF16,.BF16.F32,.RELU.BF16,.RELU.BF16.F32}.PACK_AB R,R,{R,C,U}",
     {G, "dab", S::sign, C::conversion, g_f2fp}},
    // Halves, packed.
    {"HADD2{,.BF16_V2}{,.FTZ}{,.SAT} R,{R,R.H0_H0,R.H1_H1},{R,R.H0_H0,R.H1_H1,C,C.H0_H0,C.H1_H1,U,U.H0_H0,U.H1_H1}",
     {G, "dab", S::sign, C::fp16, g_hadd2}},
    {"HMUL2{,.BF16_V2}{,.FTZ}{,.SAT} R,{R,R.H0_H0,R.H1_H1},{R,R.H0_H0,R.H1_H1,C,C.H0_H0,C.H1_H1,U,U.H0_H0,U.H1_H1}",
     {G, "dab", S::sign, C::fp16, g_hmul2}},
    {"HADD2{,.BF16_V2}{,.FTZ}{,.SAT} R,{R,R.H0_H0,R.H1_H1},F,F", {G, "daXY", S::sign, C::fp16, g_hadd2}},
    {"HMUL2{,.BF16_V2}{,.FTZ}{,.SAT} R,{R,R.H0_H0,R.H1_H1},F,F", {G, "daXY", S::sign, C::fp16, g_hmul2}},
    {"HFMA2{,.MMA}{,.BF16_V2}{,.FTZ}{,.SAT,.RELU} "
     "R,{R,R.H0_H0,R.H1_H1},{R,R.H0_H0,R.H1_H1,C,C.H0_H0,C.H1_H1,U,U.H0_H0,U.H1_H1},{R,R.H0_H0,R.H1_H1}",
     {G, "dabc", S::sign, C::fp16, g_hfma2}},
    {"HFMA2{,.MMA}{,.BF16_V2}{,.FTZ}{,.SAT,.RELU} R,{R,R.H0_H0,R.H1_H1},F,F,{R,R.H0_H0,R.H1_H1}",
     {G, "daXYc", S::sign, C::fp16, g_hfma2}},
    {"HFMA2{,.MMA}{,.BF16_V2}{,.FTZ}{,.SAT,.RELU} R,{R,R.H0_H0,R.H1_H1},{R,R.H0_H0,R.H1_H1},F,F",
     {G, "dabZV", S::sign, C::fp16, g_hfma2}},
    {"HFMA2{,.MMA}{,.BF16_V2}{,.FTZ}{,.SAT,.RELU} "
     "R,{R,R.H0_H0,R.H1_H1},{R,R.H0_H0,R.H1_H1},{C,C.H0_H0,C.H1_H1,U,U.H0_H0,U.H1_H1}",
     {G, "dabc", S::sign, C::fp16, g_hfma2}},
    {"HMNMX2{,.BF16_V2}{,.FTZ}{,.NAN}{,.XORSIGN} "
     "R,{R,R.H0_H0,R.H1_H1},{R,R.H0_H0,R.H1_H1,C,C.H0_H0,C.H1_H1,U,U.H0_H0,U.H1_H1},P",
     {G, "dabx", S::sign, C::fp16, g_hmnmx2}},
    {"HMNMX2{,.BF16_V2}{,.FTZ}{,.NAN}{,.XORSIGN} R,{R,R.H0_H0,R.H1_H1},F,F,P",
     {G, "daXYx", S::sign, C::fp16, g_hmnmx2}},
    {"HSET2{,.BF16_V2}{,.BF}.{LT,EQ,LE,GT,NE,GE,NUM,NAN,LTU,EQU,LEU,GTU,NEU,GEU}{,.FTZ}.{AND,OR,XOR} "
     "R,{R,R.H0_H0,R.H1_H1},{R,R.H0_H0,R.H1_H1,C,C.H0_H0,C.H1_H1,U,U.H0_H0,U.H1_H1},P",
     {G, "dabx", S::sign, C::fp16, g_hset2}},
    {"HSET2{,.BF16_V2}{,.BF}.{LT,EQ,LE,GT,NE,GE,NUM,NAN,LTU,EQU,LEU,GTU,NEU,GEU}{,.FTZ}.{AND,OR,XOR} "
     "R,{R,R.H0_H0,R.H1_H1},F,F,P",
     {G, "daXYx", S::sign, C::fp16, g_hset2}},
    {"HSETP2{,.BF16_V2}.{LT,EQ,LE,GT,NE,GE,NUM,NAN,LTU,EQU,LEU,GTU,NEU,GEU}{,.FTZ}.{AND,OR,XOR} "
     "P,P,{R,R.H0_H0,R.H1_H1},{R,R.H0_H0,R.H1_H1,C,C.H0_H0,C.H1_H1,U,U.H0_H0,U.H1_H1},P",
     {G, "pqabx", S::sign, C::fp16, g_hsetp2}},
    {"HSETP2{,.BF16_V2}.{LT,EQ,LE,GT,NE,GE,NUM,NAN,LTU,EQU,LEU,GTU,NEU,GEU}{,.FTZ}.{AND,OR,XOR} "
     "P,P,{R,R.H0_H0,R.H1_H1},F,F,P",
     {G, "pqaXYx", S::sign, C::fp16, g_hsetp2}},
    // Between lanes, and of the warp.
    {"VOTE.{ALL,ANY,EQ} P,P", {G, "px", S::none, C::predicate, g_vote}},
    {"VOTE.{ALL,ANY} R,P,P", {G, "dpx", S::none, C::predicate, g_ballot}},
    {"VOTEU.{ALL,ANY} U,Q,P", {G, "Dpx", S::none, C::uniform, g_ballot_uniform}},
    {"MATCH.ANY{,.U64} R,R", {G, "dw", S::none, C::shuffle, g_match_any}},
    {"MATCH.ALL{,.U64} P,R,R", {G, "pdw", S::none, C::shuffle, g_match_all}},
    {"REDUX{,.OR,.XOR,.SUM,.SUM.S32,.MIN,.MAX,.MIN.S32,.MAX.S32} U,R", {G, "Da", S::none, C::uniform, g_redux}},
    {"ELECT P,U,P", {G, "pDx", S::none, C::predicate, g_elect}},
    {"USHF.{L.U32.HI,L.W.U32.HI,R.U32,R.W.U32,R.S64,R.U64} U,U,{U,I},U", {G, "Dabc", S::none, C::uniform, g_ushf}},
    {"UIMAD.WIDE U,U,{U,I},U", {G, "Dabk", S::none, C::uniform, g_uimad_wide}},
    {"UPRMT U,U,{U,I},U", {G, "Dabc", S::none, C::uniform, g_uprmt}},
    {"UPRMT U,U,U,I", {G, "Dabc", S::none, C::uniform, g_uprmt}},
    {"ULDC.{U8,S8,U16,S16} U,C", {G, "DK", S::none, C::uniform, g_uldc}},
    {"ULDC{,.U8,.S8,.U16,.S16,.64} U,C[U]", {G, "DK", S::none, C::uniform, g_uldc}},
    {"UFLO.U32 U,U", {G, "Da", S::invert, C::uniform, g_uflo}},
    {"UPOPC U,U", {G, "Da", S::invert, C::uniform, g_upopc}},
    {"S2R R,{SR_EQMASK,SR_LTMASK,SR_LEMASK,SR_GTMASK,SR_GEMASK}", {G, "ds", S::none, C::move, g_lanemask}},
    {"CS2R{,.32} R,{SR_CLOCKLO,SR_GLOBALTIMERLO}", {G, "ds", S::none, C::move, g_clock}},
    {"S2UR U,SR_CLOCKLO", {G, "Ds", S::none, C::uniform, g_clock}},
    {"BMOV.32{,.CLEAR} R,B", {G, "dB", S::none, C::control, g_bmov_out}},
    {"BMOV.32 B,R", {G, "Ba", S::none, C::control, g_bmov_in}},
    {"BREAK P,B", {G, "xB", S::none, C::control, g_break}},
    {"B2R.RESULT R", {G, "d", S::none, C::barrier, g_b2r}},
    {"B2R.RESULT R,P", {G, "dp", S::none, C::barrier, g_b2r_predicate}},
    {"R2UR P,U,R", {G, "pDa", S::none, C::uniform, g_r2ur_predicate}},
    {"LEPC R,L", {G, "dt", S::none, C::control, g_lepc}},
    {"LEPC R", {G, "d", S::none, C::control, g_lepc}},
    {"{YIELD,ERRBAR,CGAERRBAR,CCTL.IVALL,LDGDEPBAR} ", {Family::nop, "", S::none, C::control}},
    {"MEMBAR{.ALL.SYS,.SC.CTA,.SC.GPU,.SC.SYS,.ALL.GPU,.ALL.CTA} ", {Family::nop, "", S::none, C::control}},
    {"NANOSLEEP {R,I}", {Family::nop, "s", S::none, C::control}},
    {"DEPBAR.LE {SB0,SB1,SB2,SB3,SB4,SB5},I", {Family::nop, "ss", S::none, C::control}},
    {"DEPBAR.LE {SB0,SB1,SB2,SB3,SB4,SB5},I,SBs", {Family::nop, "sss", S::none, C::control}},
    {"CCTL.E.{PF1,PF2} [{R,R.64}]", {Family::nop, "s", S::none, C::control}},
    // Memory of other widths, orders and spaces. What orders accesses between threads changes no value of one thread.
    {"LDG.E{,.EF,.EL,.NA,.LU}{,.LTC64B,.LTC128B}{.U8,.S8,.S16}{,.CONSTANT} R,{,d}[R.64]",
     {G, "dm", S::none, C::global_load, g_load}},
    {"LDG.E{,.EF}{,.U8,.S8,.U16,.S16,.64,.128}{.STRONG.GPU,.STRONG.SYS,.STRONG.SM} R,{,d}[R.64]",
     {G, "dm", S::none, C::global_load, g_load}},
    {"LDG.E R,[R]", {G, "dm", S::none, C::global_load, g_load}},
    {"STG.E{,.EF,.EL,.NA}.U8 {,d}[R.64],R", {G, "mc", S::none, C::global_store, g_store}},
    {"STG.E{,.U8,.U16,.64,.128}{.STRONG.GPU,.STRONG.SYS,.STRONG.SM} {,d}[R.64],R",
     {G, "mc", S::none, C::global_store, g_store}},
    {"LD.E{,.64} R,[R]", {G, "dm", S::none, C::global_load, g_load}},
    {"ST.E{,.64} [R],R", {G, "mc", S::none, C::global_store, g_store}},
    {"LD.E{,.U8,.S8,.U16,.S16,.64,.128}{,.STRONG.GPU,.STRONG.SYS,.STRONG.SM} R,{,d}[R.64]",
     {G, "dm", S::none, C::global_load, g_load}},
    {"ST.E{,.U8,.U16,.64,.128}{,.STRONG.GPU,.STRONG.SYS,.STRONG.SM} {,d}[R.64],R",
     {G, "mc", S::none, C::global_store, g_store}},
    {"LDS.{U8,S8,S16} R,[{R,R.X4,R.X8,R.X16,U,R+U,R.X4+U,R.X8+U,R.X16+U,}]",
     {G, "dm", S::none, C::shared_load, g_load}},
    {"STS.U8 [{R,R.X4,R.X8,R.X16,U,R+U,R.X4+U,R.X8+U,R.X16+U,}],R", {G, "mc", S::none, C::shared_store, g_store}},
    {"LDL{,.LU}{.U8,.S8,.U16,.S16,.64,.128} R,[R]", {G, "dm", S::none, C::local_load, g_load}},
    {"STL{.U8,.U16,.64,.128} [R],R", {G, "mc", S::none, C::local_store, g_store}},
    {"LDC{.U8,.S8,.U16,.S16} R,C", {G, "dK", S::none, C::constant_load, g_ldc}},
    {"LDC{,.U8,.S8,.U16,.S16,.64} R,C[R]", {G, "dK", S::none, C::constant_load, g_ldc}},
    {"ATOMG.E.{ADD,MIN,MAX,INC,DEC,AND,OR,XOR,EXCH}{,.S32,.64,.S64}.STRONG.{GPU,SYS,SM} P,R,{,d}[R.64],R",
     {G, "pdmc", S::none, C::atomic, g_atomic}},
    {"ATOMG.E.ADD.{F32.FTZ.RN,F64.RN}.STRONG.{GPU,SYS,SM} P,R,{,d}[R.64],R", {G, "pdmc", S::none, C::atomic, g_atomic}},
    {"ATOM.E.{ADD,MIN,MAX,INC,DEC,AND,OR,XOR,EXCH}{,.S32,.64,.S64}.STRONG.{GPU,SYS,SM} P,R,{,d}[R.64],R",
     {G, "pdmc", S::none, C::atomic, g_atomic}},
    {"ATOM.E.ADD.{F16x2,BF16x2}.RN.STRONG.{GPU,SYS,SM} P,R,{,d}[R.64],R", {G, "pdmc", S::none, C::atomic, g_atomic}},
    {"{ATOMG,ATOM}.E.CAS{,.64}.STRONG.{GPU,SYS,SM} P,R,[R],R,R", {G, "pdmec", S::none, C::atomic, g_cas}},
    {"{REDG,RED}.E.{ADD,MIN,MAX,INC,DEC,AND,OR,XOR}{,.S32,.64,.S64}.STRONG.{GPU,SYS,SM} {,d}[R.64],R",
     {G, "mc", S::none, C::atomic, g_reduce}},
    {"{REDG,RED}.E.ADD.{F32.FTZ.RN,F64.RN}.STRONG.{GPU,SYS,SM} {,d}[R.64],R", {G, "mc", S::none, C::atomic, g_reduce}},
    {"ATOMS.{ADD,MIN,MAX,INC,DEC,AND,OR,XOR,EXCH}{,.S32,.64} R,[{R,R.X4,R.X8,R.X16,U,R+U,R.X4+U,R.X8+U,R.X16+U,}],R",
     {G, "dmc", S::none, C::atomic, g_atomic}},
    {"ATOMS.POPC.INC.32 R,[{R,R.X4,R.X8,R.X16,U,R+U,R.X4+U,R.X8+U,R.X16+U,}]",
     {G, "0m", S::none, C::atomic, g_count_in}},
    {"ATOMS.CAS{,.64} R,[{R,R.X4,R.X8,R.X16,U,R+U,R.X4+U,R.X8+U,R.X16+U,}],R,R",
     {G, "dmec", S::none, C::atomic, g_cas}},
    {"ATOMS.CAST.SPIN{,.64} R,[{R,R.X4,R.X8,R.X16,U,R+U,R.X4+U,R.X8+U,R.X16+U,}],R,R",
     {G, "dmec", S::none, C::atomic, g_cast_spin}},
    {"QSPC.E.S P,R,[{R,R.64}]", {G, "pdm", S::none, C::predicate, g_qspc}},
    {"LDGSTS.E{,.LTC64B,.LTC128B}{,.64,.128} [{R,R+U}],{,d}[R.64]", {Family::ldgsts, "mG", S::none, C::global_load}},
    {"LDGSTS.E{,.LTC64B,.LTC128B}{,.64,.128} [{R,R+U}],{,d}[R.64],P", {Family::ldgsts, "mGx", S::none, C::global_load}},
    {"LDGSTS.E.BYPASS{,.LTC64B,.LTC128B}.128 [{R,R+U}],{,d}[R.64]", {Family::ldgsts, "mG", S::none, C::global_load}},
    {"LDGSTS.E.BYPASS{,.LTC64B,.LTC128B}.128 [{R,R+U}],{,d}[R.64],P", {Family::ldgsts, "mGx", S::none, C::global_load}},
    {"LDSM.16.M88{,.2,.4} R,[{R,R+U,U,}]", {Family::ldsm, "dm", S::none, C::shared_load}},
    {"LDSM.16.MT88{,.2,.4} R,[{R,R+U,U,}]", {Family::ldsm_transposed, "dm", S::none, C::shared_load}},
    {"MOVM.16.MT88 R,R", {G, "da", S::none, C::shuffle, g_movm}},
    // Control.
    {"NOP ", {Family::nop, "", S::none, C::control}},
    {"BRA L", {Family::bra, "t", S::none, C::control}},
    {"BRA P,L", {Family::bra, "xt", S::none, C::control}},
    {"BRA.DIV U,L", {Family::bra_div, "at", S::invert, C::control}},
    {"BRA.CONV U,L", {Family::bra_conv, "at", S::invert, C::control}},
    {"CALL.REL.NOINC L", {Family::bra, "t", S::none, C::control}},  // the return address is the caller's own affair
    {"RET.REL.NODEC R,L", {Family::ret, "at", S::none, C::control}},
    {"BSSY B,L", {Family::bssy, "Bt", S::none, C::control}},
    {"BSYNC B", {Family::bsync, "B", S::none, C::control}},
    {"BREAK B", {Family::break_barrier, "B", S::none, C::control}},
    {"WARPSYNC {R,I}", {Family::warpsync, "a", S::none, C::control}},
    {"WARPSYNC.ALL ", {Family::warpsync, "", S::none, C::control}},
    {"WARPSYNC.COLLECTIVE R,L", {Family::warpsync, "at", S::none, C::control}},
    {"ENDCOLLECTIVE ", {Family::endcollective, "", S::none, C::control}},
    {"CALL.REL.NOINC R,L", {Family::ret, "at", S::none, C::control}},
    {"BRX R,I", {Family::brx, "ai", S::none, C::control}},  // by a table of function-relative bytes in c[0x2]
    {"CALL.ABS.NOINC R", {Family::call_absolute, "a", S::none, C::control}},
    {"WARPSYNC.EXCLUSIVE R", {Family::warpsync, "a", S::none, C::control}},
    {"BAR.SYNC{,.DEFER_BLOCKING} I", {Family::bar_sync, "i", S::none, C::barrier}},
    {"BAR.SYNC{,.DEFER_BLOCKING} I,I", {Family::bar_sync, "ij", S::none, C::barrier}},
    {"BAR.SYNC{,.DEFER_BLOCKING} R", {Family::bar_sync, "a", S::none, C::barrier}},
    {"BAR.SYNC{,.DEFER_BLOCKING} I,R", {Family::bar_sync, "ie", S::none, C::barrier}},
    {"BAR.SYNC{,.DEFER_BLOCKING} R,R", {Family::bar_sync, "ae", S::none, C::barrier}},
    {"BAR.ARV I,I", {Family::bar_arrive, "ij", S::none, C::barrier}},
    {"BAR.RED.{POPC,AND,OR}{,.DEFER_BLOCKING} I,P", {Family::bar_reduce, "ix", S::none, C::barrier}},
    {"EXIT ", {Family::exit, "", S::none, C::control}},
    {"BPT.TRAP I", {G, "s", S::none, C::control, g_trap}},
    {"EXIT P", {Family::exit, "x", S::none, C::control}},
};

// "A{,.B} {C,D}" → "A C", "A D", "A.B C", "A.B D".
void expand(const std::string& spelling, std::vector<std::string>& out) {
  const size_t open = spelling.find('{');
  if (open == std::string::npos) {
    out.push_back(spelling);
    return;
  }
  const size_t close = spelling.find('}', open);
  for (size_t at = open; at < close;) {
    const size_t next = std::min(spelling.find(',', at + 1), close);
    expand(spelling.substr(0, open) + spelling.substr(at + 1, next - at - 1) + spelling.substr(close + 1), out);
    at = next;
  }
}

struct Listed {
  Form form;
  Basis basis;
};

// Cache hints, how a barrier waits, and how far an order or an atomic's effect reaches (all of this device's threads
// see it here): they change no value.
bool is_hint(std::string_view modifier) {
  constexpr std::string_view hints[] = {"LTC64B", "LTC128B",        "EF",  "EL",  "NA", "LU",    "CONSTANT",
                                        "BYPASS", "DEFER_BLOCKING", "GPU", "SYS", "SM", "STRONG"};
  return std::find(std::begin(hints), std::end(hints), modifier) != std::end(hints);
}

// A spelling in two parts, without cache hints and the sign of an atomic sum: opcode with modifiers, and the operands
// with the kind of each source left open (register, uniform register, immediate, constant; which half of it) and of
// each address.
struct Kindless {
  std::string head, operands;
};
Kindless kindless(std::string_view spelling, Roles roles) {
  const size_t space = spelling.find(' ');
  Kindless kin;
  for (size_t at = 0; at < space;) {
    const size_t end = std::min(spelling.find('.', at), space);
    const std::string_view modifier = spelling.substr(at, end - at);
    if (at == 0)
      kin.head = modifier;
    else if (!is_hint(modifier) && !(modifier == "S32" && kin.head.ends_with(".ADD")))
      kin.head += "." + std::string(modifier);
    at = end + 1;
  }
  size_t at = space + 1;
  for (const char role : roles) {
    if (at > spelling.size()) break;  // a role that the spelling does not show
    const size_t end = std::min(spelling.find(',', at), spelling.size());
    std::string_view operand = spelling.substr(at, end - at);
    at = end + 1;
    if (std::string_view("abckwve").find(role) != std::string_view::npos) {
      operand.remove_prefix(1);
      kin.operands += operand == ".H0_H0" || operand == ".H1_H1" ? "*" : "*" + std::string(operand);
    } else if (role == 'X' || role == 'Z') {
      kin.operands += "*";
    } else if (role == 'Y' || role == 'V') {  // the same immediate's other half
      continue;
    } else {
      kin.operands += role == 'm' || role == 'G' ? "[]" : role == 'K' ? "C" : operand;
    }
    kin.operands += ",";
  }
  return kin;
}

// A comparison's head without which comparison it is and how it goes with the predicate: those are a table
// (decode.cpp), and every entry of it is recorded with FSETP and ISETP. Empty: no comparison.
std::string uncompared(const std::string& head) {
  constexpr std::string_view opcodes[] = {"DSETP", "ISETP", "FSET", "HSET2", "HSETP2"};
  constexpr std::string_view names[] = {"LT",  "EQ",  "LE",  "GT",  "NE",  "GE",  "NUM", "NAN", "LTU",
                                        "EQU", "LEU", "GTU", "NEU", "GEU", "AND", "OR",  "XOR"};
  const size_t first = head.find('.');
  if (first == std::string::npos ||
      std::ranges::find(opcodes, std::string_view(head).substr(0, first)) == std::end(opcodes))
    return {};
  std::string rest = head.substr(0, first);
  for (size_t at = first; at < head.size();) {
    const size_t end = std::min(head.find('.', at + 1), head.size());
    const std::string_view modifier = std::string_view(head).substr(at + 1, end - at - 1);
    if (std::ranges::find(names, modifier) == std::end(names)) rest += "." + std::string(modifier);
    at = end;
  }
  return rest;
}

std::string_view opcode_of(std::string_view spelling) { return spelling.substr(0, spelling.find_first_of(". ")); }

// What the recordings say of general forms that they do not hold as spelled.
class RecordedKin {
 public:
  void add(std::string_view spelling, Roles roles) {
    const Kindless kin = kindless(spelling, roles);
    forms_.insert(kin.head + " " + kin.operands);
    shapes_.insert(std::string(opcode_of(spelling)) + " " + kin.operands);
    if (const std::string rest = uncompared(kin.head); !rest.empty()) comparisons_.insert(rest + " " + kin.operands);
  }
  // Another comparison of the same numbers is recorded.
  bool compares(std::string_view spelling, Roles roles) const {
    const Kindless kin = kindless(spelling, roles);
    const std::string rest = uncompared(kin.head);
    return !rest.empty() && comparisons_.contains(rest + " " + kin.operands);
  }
  // The same operation is recorded with sources of other kinds, or for lanes where this is uniform, or (a local load)
  // with that width for shared memory; or it is without the predicate at the end, and another width of the same opcode
  // is with it.
  bool holds(std::string_view spelling, Roles roles) const {
    const Kindless kin = kindless(spelling, roles);
    if (forms_.contains(kin.head + " " + kin.operands) || forms_.contains(lanes_twin(kin))) return true;
    // A generic address that leads to global memory: what such an address means is recorded with other operations.
    for (const auto& [generic, global] : {std::pair{"ATOM.", "ATOMG."}, {"LD.", "LDG."}, {"ST.", "STG."}})
      if (kin.head.starts_with(generic) &&
          forms_.contains(global + kin.head.substr(std::string_view(generic).size()) + " " + kin.operands))
        return true;
    if (kin.head.starts_with("LDL.") && forms_.contains("LDS" + kin.head.substr(3) + " " + kin.operands)) return true;
    if (!roles.ends_with('x')) return false;
    constexpr size_t kPredicate = 2;  // "P,"
    return forms_.contains(kin.head + " " + kin.operands.substr(0, kin.operands.size() - kPredicate)) &&
           shapes_.contains(std::string(opcode_of(spelling)) + " " + kin.operands);
  }

 private:
  static std::string lanes_twin(const Kindless& kin) {
    if (!kin.head.starts_with('U')) return {};
    std::string operands = kin.operands;
    std::replace(operands.begin(), operands.end(), 'U', 'R');
    std::replace(operands.begin(), operands.end(), 'Q', 'P');
    return kin.head.substr(1) + " " + operands;
  }

  std::unordered_set<std::string> forms_, shapes_, comparisons_;
};

const std::unordered_map<std::string, Listed>& table() {
  static const auto* forms = [] {
    auto* map = new std::unordered_map<std::string, Listed>;
    std::vector<std::pair<std::string, Form>> others;
    RecordedKin kin;
    for (const Row& row : rows) {
      std::vector<std::string> spellings;
      expand(std::string(row.spelling), spellings);
      for (std::string& spelling : spellings) {
        const bool recorded = recorded_on(spelling) != 0;
        if (row.form.family == Family::general && !recorded) {
          others.emplace_back(std::move(spelling), row.form);
          continue;
        }
        if (recorded) kin.add(spelling, row.form.roles);
        map->emplace(std::move(spelling), Listed{row.form, recorded ? Basis::recorded : Basis::definition});
      }
    }
    for (auto& [spelling, listed] : *map) {
      if (listed.basis == Basis::definition && kin.holds(spelling, listed.form.roles)) listed.basis = Basis::kin;
    }
    // General rows stand for more spellings than were recorded; of those only the recorded ones' kin is executed, and
    // comparisons of other names.
    for (auto& [spelling, form] : others) {
      if (kin.holds(spelling, form.roles)) {
        map->emplace(std::move(spelling), Listed{form, Basis::kin});
      } else if (kin.compares(spelling, form.roles)) {
        map->emplace(std::move(spelling), Listed{form, Basis::definition});
      }
    }
    return map;
  }();
  return *forms;
}

std::string letter_of(const compile::SassOperand& operand) {
  using compile::OperandKind;
  switch (operand.kind) {
    case OperandKind::reg:
      return "R";
    case OperandKind::uniform_reg:
      return "U";
    case OperandKind::predicate:
      return "P";
    case OperandKind::uniform_pred:
      return "Q";
    case OperandKind::immediate:
      return operand.is_float ? "F" : "I";
    case OperandKind::label:
      return "L";
    case OperandKind::barrier:
      return "B";
    case OperandKind::constant:
      return operand.reg < 0 ? "C" : operand.reg_is_uniform ? "C[U]" : "C[R]";
    case OperandKind::special:
      return operand.raw;
    default:
      return operand.raw;
  }
}

std::string spelling_of(const compile::SassOperand& operand) {
  std::string text;
  if (operand.kind == compile::OperandKind::address) {
    if (operand.descriptor >= 0) text += "d";
    text += "[";
    if (operand.reg >= 0) text += operand.reg_is_uniform ? "U" : "R";
    for (const std::string& modifier : operand.modifiers) text += "." + modifier;
    if (operand.uniform_offset >= 0) text += "+U";
    return text + "]";
  }
  text = operand.raw.starts_with("{") ? "SBs" : letter_of(operand);  // {5,4,3,2}: scoreboards
  for (const std::string& modifier : operand.modifiers) text += "." + modifier;
  return text;
}

}  // namespace

const Form* find_form(std::string_view spelling) {
  const auto found = table().find(std::string(spelling));
  return found == table().end() ? nullptr : &found->second.form;
}

Basis basis_of(std::string_view spelling) { return table().at(std::string(spelling)).basis; }

std::vector<std::string> all_forms() {
  std::vector<std::string> spellings;
  for (const auto& [spelling, listed] : table()) spellings.push_back(spelling);
  std::sort(spellings.begin(), spellings.end());
  return spellings;
}

std::vector<std::string> supported_forms() { return all_forms(); }

std::string form_of(const compile::SassInstruction& instruction) {
  std::string text = instruction.opcode;
  for (const std::string& modifier : instruction.modifiers) text += "." + modifier;
  text += " ";
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    if (i > 0) text += ",";
    text += spelling_of(instruction.operands[i]);
  }
  return text;
}

}  // namespace attnscope::emulator
