#pragma once
#include <optional>
#include <string_view>

#include "compile/sass.h"
#include "emulator/isa/op.h"

// The meaning of a form's modifiers: the decoders that the rows of forms.inc name. Each sets the fields of an Op that
// its forms' handlers read, after the operands are set.
namespace attnscope::emulator {

// An instruction whose operands are already in the Op, and the architecture of its code.
struct Spelled {
  const compile::SassInstruction& instruction;
  int arch;
  bool has(std::string_view modifier) const;
};

// The part of the instruction that cannot be executed, for the message; nullptr: none.
using Refusal = const char*;
using ModifierDecoder = Refusal(const Spelled& spelled, Op& op);

// The modifiers that every form may have, as Op::flags: flushing, unsigned numbers, RELU, …
uint8_t common_flags(const Spelled& spelled);
HalfPick half_of(const compile::SassOperand& operand);

namespace modifiers {

ModifierDecoder plain;  // only the common flags
// Floating point.
ModifierDecoder nearest;     // sets no fields; its handler rounds to nearest
ModifierDecoder arithmetic;  // .FTZ, .RM .RP .RZ, .SAT
ModifierDecoder scaled;      // .D2 … .M8
ModifierDecoder min_max;     // .NAN, .XORSIGN
ModifierDecoder halves;      // packed: .BF16_V2, .SAT, .NAN, .XORSIGN
ModifierDecoder one_half;    // HADD2.F32: .H0_H0 or .H1_H1
ModifierDecoder special_function;
ModifierDecoder greater_double;  // DSETP.MIN, .MAX
ModifierDecoder compare_floats;
ModifierDecoder compare_halves;
ModifierDecoder compare_integers;
// Conversions: the meaning of the type names among the modifiers.
ModifierDecoder converted;    // first the destination's type, then the source's
ModifierDecoder to_whole;     // F2I: an integer and a floating-point type; s32 and f32 if not named
ModifierDecoder source_byte;  // R2P
ModifierDecoder from_whole;   // I2F
ModifierDecoder rounded;      // FRND
ModifierDecoder packed;       // F2FP
// Integers and bits.
ModifierDecoder shift_amount;
ModifierDecoder carry;        // carries in only with .X
ModifierDecoder shift_carry;  // both of the above
ModifierDecoder look_up;      // LOP3
ModifierDecoder funnel_shift;
ModifierDecoder prmt_mode;
ModifierDecoder parts;        // one type for a and b; .ACC
ModifierDecoder dot_product;  // IDP
ModifierDecoder wraps;        // .W
ModifierDecoder as_shift;     // .SH
// Between lanes, and for the warp.
ModifierDecoder vote;
ModifierDecoder match;
ModifierDecoder reduce_lanes;  // REDUX
ModifierDecoder lane_mask;
ModifierDecoder clears;  // .CLEAR
ModifierDecoder return_address;
ModifierDecoder barrier;
ModifierDecoder syncs_warp;
ModifierDecoder fences_device;
ModifierDecoder closes_copies;
ModifierDecoder awaits_copies;
// Tensor Cores.
ModifierDecoder tensor;
ModifierDecoder tensor_tf32;
ModifierDecoder tensor_integers;
ModifierDecoder tensor_doubles;
// Memory: the width of a lane's access, and how a narrow load is extended.
Refusal access(const Spelled&, Op&, Space, AccessKind);
Refusal combine(const Spelled&, Op&, Space, Effect);
ModifierDecoder matrices;  // LDSM
ModifierDecoder copy;      // LDGSTS
// An mbarrier.
ModifierDecoder begins_mbarrier;
ModifierDecoder arrives;
ModifierDecoder copies_arrive;
ModifierDecoder checks_phase;
template <Space kSpace>
Refusal load(const Spelled& spelled, Op& op) {
  return access(spelled, op, kSpace, AccessKind::load);
}
template <Space kSpace>
Refusal store(const Spelled& spelled, Op& op) {
  return access(spelled, op, kSpace, AccessKind::store);
}
template <Space kSpace>
Refusal no_access(const Spelled& spelled, Op& op) {  // QSPC, constants: observers ignore these
  return access(spelled, op, kSpace, AccessKind::none);
}
template <Space kSpace>
Refusal atomic(const Spelled& spelled, Op& op) {
  return combine(spelled, op, kSpace, Effect::none);
}
template <Space kSpace>
Refusal swap(const Spelled& spelled, Op& op) {  // stores only if the word has the expected value
  return combine(spelled, op, kSpace, Effect::swaps);
}

}  // namespace modifiers
}  // namespace attnscope::emulator
