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
using ModifierDecoder = Refusal (*)(const Spelled& spelled, Op& op);

// Modifiers that every form may carry: flushing, unsigned numbers, RELU, … → Op::flags.
uint8_t common_flags(const Spelled& spelled);
HalfPick half_of(const compile::SassOperand& operand);

namespace modifiers {

Refusal plain(const Spelled&, Op&);  // nothing beyond the common flags
// Floating point.
Refusal nearest(const Spelled&, Op&);     // no fields either; its handler rounds to nearest
Refusal arithmetic(const Spelled&, Op&);  // .FTZ, .RM .RP .RZ, .SAT
Refusal scaled(const Spelled&, Op&);      // .D2 … .M8
Refusal min_max(const Spelled&, Op&);     // .NAN, .XORSIGN
Refusal halves(const Spelled&, Op&);      // packed: .BF16_V2, .SAT, .NAN, .XORSIGN
Refusal one_half(const Spelled&, Op&);    // HADD2.F32: .H0_H0 or .H1_H1
Refusal special_function(const Spelled&, Op&);
Refusal greater_double(const Spelled&, Op&);  // DSETP.MIN, .MAX
Refusal compare_floats(const Spelled&, Op&);
Refusal compare_halves(const Spelled&, Op&);
Refusal compare_integers(const Spelled&, Op&);
// Conversions: the meaning of the type names among the modifiers.
Refusal converted(const Spelled&, Op&);   // to, then from
Refusal to_whole(const Spelled&, Op&);    // F2I: an integer and a floating-point type, s32 and f32 unless named
Refusal from_whole(const Spelled&, Op&);  // I2F
Refusal rounded(const Spelled&, Op&);     // FRND
Refusal packed(const Spelled&, Op&);      // F2FP
// Integers and bits.
Refusal shift_amount(const Spelled&, Op&);
Refusal carry(const Spelled&, Op&);        // carries in only with .X
Refusal shift_carry(const Spelled&, Op&);  // both
Refusal look_up(const Spelled&, Op&);      // LOP3
Refusal funnel_shift(const Spelled&, Op&);
Refusal prmt_mode(const Spelled&, Op&);
Refusal parts(const Spelled&, Op&);        // one type for a and b; .ACC
Refusal dot_product(const Spelled&, Op&);  // IDP
Refusal wraps(const Spelled&, Op&);        // .W
Refusal as_shift(const Spelled&, Op&);     // .SH
// Between lanes, and for the warp.
Refusal vote(const Spelled&, Op&);
Refusal match(const Spelled&, Op&);
Refusal reduce_lanes(const Spelled&, Op&);  // REDUX
Refusal lane_mask(const Spelled&, Op&);
Refusal clears(const Spelled&, Op&);  // .CLEAR
Refusal return_address(const Spelled&, Op&);
Refusal barrier(const Spelled&, Op&);
Refusal syncs_warp(const Spelled&, Op&);
Refusal fences_device(const Spelled&, Op&);
Refusal closes_copies(const Spelled&, Op&);
Refusal awaits_copies(const Spelled&, Op&);
// Tensor Cores.
Refusal tensor(const Spelled&, Op&);
Refusal tensor_tf32(const Spelled&, Op&);
Refusal tensor_integers(const Spelled&, Op&);
// Memory: the width of a lane's access, and how a narrow load is extended.
Refusal access(const Spelled&, Op&, Space, AccessKind);
Refusal combine(const Spelled&, Op&, Space, Effect);
Refusal matrices(const Spelled&, Op&);  // LDSM
Refusal copy(const Spelled&, Op&);      // LDGSTS
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
Refusal swap(const Spelled& spelled, Op& op) {  // stores only if it finds the expected value
  return combine(spelled, op, kSpace, Effect::swaps);
}

}  // namespace modifiers
}  // namespace attnscope::emulator
