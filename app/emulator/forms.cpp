#include "emulator/forms.h"

#include <algorithm>
#include <unordered_map>

#include "emulator/emulator.h"

namespace attnscope::emulator {

namespace {

using C = InstructionClass;
using S = SourceModifiers;

// The tested list. {x,y} stands for both spellings; operand letters: R register, U uniform register, P predicate,
// Q uniform predicate, I integer immediate, F floating-point immediate, C constant bank, L label, B convergence barrier.
// A row is added together with tests of it (docs/emulator.md, "Adding a form").
struct Row {
  std::string_view spelling;
  Form form;
};
constexpr Row rows[] = {
    // Floating point, 32 bits.
    {"FADD{,.FTZ} R,R,{R,F,C,U}", {Family::fadd, "dab", S::sign, C::fp32}},
    {"FMUL{,.FTZ} R,R,{R,F,C,U}", {Family::fmul, "dab", S::sign, C::fp32}},
    {"FFMA{,.FTZ}{,.RM,.RP} R,R,{R,F,C,U},R", {Family::ffma, "dabc", S::sign, C::fp32}},
    {"FFMA{,.FTZ}{,.RM,.RP} R,R,R,{F,C,U}", {Family::ffma, "dabc", S::sign, C::fp32}},
    {"FMNMX{,.FTZ} R,R,{R,F,C,U},P", {Family::fmnmx, "dabx", S::sign, C::fp32}},
    {"FSEL R,R,{R,F,C,U},P", {Family::sel, "dabx", S::sign, C::fp32}},
    {"FSETP.{LT,EQ,LE,GT,NE,GE,NUM,NAN,LTU,EQU,LEU,GTU,NEU,GEU}{,.FTZ}.{AND,OR} P,P,R,{R,F,C,U},P",
     {Family::fsetp, "pqabx", S::sign, C::fp32}},
    {"MUFU.EX2 R,R", {Family::mufu_ex2, "da", S::sign, C::mufu}},
    {"MUFU.RCP R,R", {Family::mufu_rcp, "da", S::sign, C::mufu}},
    // Halves and conversions. HFMA2.MMA of -0·0 + constants only makes constants.
    {"HADD2.F32 R,R,R.{H0_H0,H1_H1}", {Family::hadd2_f32, "d-b", S::none, C::fp16}},
    {"HFMA2{,.MMA} R,R,R,F,F", {Family::mov, "d-0hl", S::none, C::fp16}},
    {"F2FP{.F16.F32,}.PACK_AB R,R,R", {Family::f2fp_pack, "dab", S::sign, C::conversion}},
    // Integer arithmetic.
    {"IADD3 R,R,{R,I,C,U},R", {Family::iadd3, "dabc", S::negate, C::integer}},
    {"IADD3 R,P,R,{R,I,C,U},R", {Family::iadd3_carry, "dpabc", S::negate, C::integer}},
    {"IADD3 R,P,P,R,{R,I,C,U},R", {Family::iadd3_carry, "dpqabc", S::negate, C::integer}},
    {"IADD3.X R,R,{R,I,C,U},R,P,P", {Family::iadd3_x, "dabcxy", S::invert, C::integer}},
    {"VIADD R,R,{R,I,U}", {Family::iadd3, "dab", S::negate, C::integer}},
    {"IMAD{,.MOV,.IADD,.SHL}{,.U32} R,R,{R,I,C,U},R", {Family::imad, "dabc", S::negate, C::integer}},
    {"IMAD{,.MOV,.IADD,.SHL}{,.U32} R,R,R,{I,C,U}", {Family::imad, "dabc", S::negate, C::integer}},
    {"IMAD.X R,R,{R,I,C,U},R,P", {Family::imad_x, "dabcx", S::none, C::integer}},
    {"IMAD.X R,R,R,{I,C,U},P", {Family::imad_x, "dabcx", S::none, C::integer}},
    {"IMAD.WIDE R,R,{R,I,C,U},R", {Family::imad_wide, "dabk", S::none, C::integer}},
    {"IMAD.WIDE R,R,R,{C,U}", {Family::imad_wide, "dabk", S::none, C::integer}},
    {"IMAD.WIDE.U32 R,R,{R,I,C,U},R", {Family::imad_wide_u32, "dabk", S::none, C::integer}},
    {"IMAD.WIDE.U32 R,R,R,{C,U}", {Family::imad_wide_u32, "dabk", S::none, C::integer}},
    {"LEA R,R,{R,I,C,U},I", {Family::lea, "dabi", S::none, C::integer}},
    {"LEA R,P,R,{R,I,C,U},I", {Family::lea_carry, "dpabi", S::none, C::integer}},
    {"LEA.HI R,R,{R,I,C,U},R,I", {Family::lea_hi, "dabci", S::none, C::integer}},
    {"LEA.HI.X R,R,{R,I,C,U},R,I,P", {Family::lea_hi, "dabcix", S::none, C::integer}},
    {"LEA.HI.SX32 R,R,{R,I,C,U},I", {Family::lea_hi_sx32, "dabi", S::none, C::integer}},
    {"LEA.HI.X.SX32 R,R,{R,I,C,U},I,P", {Family::lea_hi_sx32, "dabix", S::none, C::integer}},
    {"LOP3.LUT R,R,{R,I,C,U},R,I,P", {Family::lop3, "dabciN", S::none, C::integer}},
    {"LOP3.LUT P,R,R,{R,I,C,U},R,I,P", {Family::lop3, "pdabciN", S::none, C::integer}},
    {"PRMT R,R,{R,I,C,U},R", {Family::prmt, "dabc", S::none, C::integer}},
    {"SHF.L.U32 R,R,{R,I,U},R", {Family::shf_l, "dabc", S::none, C::integer}},
    {"SHF.L.U64.HI R,R,{R,I,U},R", {Family::shf_l_u64_hi, "dabc", S::none, C::integer}},
    {"SHF.R.U32.HI R,R,{R,I,U},R", {Family::shf_r_u32_hi, "dabc", S::none, C::integer}},
    {"SHF.R.S32.HI R,R,{R,I,U},R", {Family::shf_r_s32_hi, "dabc", S::none, C::integer}},
    {"SHF.R.U64 R,R,{R,I,U},R", {Family::shf_r_u64, "dabc", S::none, C::integer}},
    {"IMNMX{,.U32} R,R,{R,I,C,U},P", {Family::iminmax, "dabx", S::none, C::integer}},
    {"VIMNMX{,.U32}{,.RELU} R,R,{R,I,U},P", {Family::iminmax, "dabx", S::none, C::integer}},
    {"VIMNMX3{,.U32}{,.RELU} R,R,{R,I,U},R,P", {Family::iminmax3, "dabcx", S::none, C::integer}},
    {"VIADDMNMX{,.U32}{,.RELU} R,R,{R,I,U},R,P", {Family::iaddminmax, "dabcx", S::none, C::integer}},
    {"VIADDMNMX{,.U32}{,.RELU} R,R,R,{I,U},P", {Family::iaddminmax, "dabcx", S::none, C::integer}},
    {"ISETP.{LT,EQ,LE,GT,NE,GE}{,.U32}.{AND,OR} P,P,R,{R,I,C,U},P", {Family::isetp, "pqabx", S::none, C::integer}},
    {"SEL R,R,{R,I,C,U},P", {Family::sel, "dabx", S::none, C::integer}},
    {"PLOP3.LUT P,P,P,P,{P,Q},I,I", {Family::plop3, "pqxyzij", S::none, C::predicate}},
    // Moves.
    {"MOV R,{R,I,C,U}", {Family::mov, "da", S::none, C::move}},
    {"CS2R R,SRZ", {Family::imad_wide_u32, "d", S::none, C::move}},
    {"CS2R.32 R,SRZ", {Family::mov, "d", S::none, C::move}},
    {"S2R R,{SR_TID.X,SR_TID.Y,SR_TID.Z,SR_CTAID.X,SR_CTAID.Y,SR_CTAID.Z,SR_LANEID,SR_CgaCtaId}",
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
    {"LDS.U16 R,[{R,R.X4,R.X8,R.X16,U,R+U,}]", {Family::lds_u16, "dm", S::none, C::shared_load}},
    {"LDS R,[{R,R.X4,R.X8,R.X16,U,R+U,}]", {Family::lds_32, "dm", S::none, C::shared_load}},
    {"LDS.64 R,[{R,R.X4,R.X8,R.X16,U,R+U,}]", {Family::lds_64, "dm", S::none, C::shared_load}},
    {"LDS.128 R,[{R,R.X4,R.X8,R.X16,U,R+U,}]", {Family::lds_128, "dm", S::none, C::shared_load}},
    {"STS.U16 [{R,R.X4,R.X8,R.X16,U,R+U,}],R", {Family::sts_u16, "mc", S::none, C::shared_store}},
    {"STS [{R,R.X4,R.X8,R.X16,U,R+U,}],R", {Family::sts_32, "mc", S::none, C::shared_store}},
    {"STS.64 [{R,R.X4,R.X8,R.X16,U,R+U,}],R", {Family::sts_64, "mc", S::none, C::shared_store}},
    {"STS.128 [{R,R.X4,R.X8,R.X16,U,R+U,}],R", {Family::sts_128, "mc", S::none, C::shared_store}},
    {"LDG.E.U16{,.CONSTANT} R,{,d}[R.64]", {Family::ldg_u16, "dm", S::none, C::global_load}},
    {"LDG.E{,.CONSTANT} R,{,d}[R.64]", {Family::ldg_32, "dm", S::none, C::global_load}},
    {"LDG.E.64{,.CONSTANT} R,{,d}[R.64]", {Family::ldg_64, "dm", S::none, C::global_load}},
    {"LDG.E.128{,.CONSTANT} R,{,d}[R.64]", {Family::ldg_128, "dm", S::none, C::global_load}},
    {"STG.E.U16 {,d}[R.64],R", {Family::stg_u16, "mc", S::none, C::global_store}},
    {"STG.E {,d}[R.64],R", {Family::stg_32, "mc", S::none, C::global_store}},
    {"STG.E.64 {,d}[R.64],R", {Family::stg_64, "mc", S::none, C::global_store}},
    {"STG.E.128 {,d}[R.64],R", {Family::stg_128, "mc", S::none, C::global_store}},
    {"LDL{,.LU} R,[R]", {Family::ldl_32, "dm", S::none, C::local_load}},
    {"STL [R],R", {Family::stl_32, "mc", S::none, C::local_store}},
    // Control.
    {"NOP ", {Family::nop, "", S::none, C::control}},
    {"BRA L", {Family::bra, "t", S::none, C::control}},
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
    {"BAR.SYNC{,.DEFER_BLOCKING} I", {Family::bar_sync, "i", S::none, C::barrier}},
    {"EXIT ", {Family::exit, "", S::none, C::control}},
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

const std::unordered_map<std::string, Form>& table() {
  static const auto* forms = [] {
    auto* map = new std::unordered_map<std::string, Form>;
    for (const Row& row : rows) {
      std::vector<std::string> spellings;
      expand(std::string(row.spelling), spellings);
      for (std::string& spelling : spellings) map->emplace(std::move(spelling), row.form);
    }
    return map;
  }();
  return *forms;
}

std::string letter_of(const compile::SassOperand& operand) {
  using compile::OperandKind;
  switch (operand.kind) {
    case OperandKind::reg: return "R";
    case OperandKind::uniform_reg: return "U";
    case OperandKind::predicate: return "P";
    case OperandKind::uniform_pred: return "Q";
    case OperandKind::immediate: return operand.is_float ? "F" : "I";
    case OperandKind::label: return "L";
    case OperandKind::barrier: return "B";
    case OperandKind::constant: return operand.reg < 0 ? "C" : operand.reg_is_uniform ? "C[U]" : "C[R]";
    case OperandKind::special: return operand.raw;
    default: return operand.raw;
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
  text = letter_of(operand);
  for (const std::string& modifier : operand.modifiers) text += "." + modifier;
  return text;
}

}  // namespace

const Form* find_form(std::string_view spelling) {
  const auto found = table().find(std::string(spelling));
  return found == table().end() ? nullptr : &found->second;
}

std::vector<std::string> all_forms() {
  std::vector<std::string> spellings;
  for (const auto& [spelling, form] : table()) spellings.push_back(spelling);
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
