#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "compile/sass.h"
#include "emulator/isa/instruction_class.h"
#include "emulator/isa/modifiers.h"
#include "emulator/isa/op.h"

namespace attnscope::emulator {

// A form's operands, one letter each, in printed order:
//   d destination register     D uniform destination      p, q predicate destinations
//   a, b, c sources            k, w, v the sources c, a, b of 64 bits    x, y, z predicate sources    e a fourth source
//   i, j immediates → imm, second                         m address    t branch target   B convergence barrier
//   N must be !PT or !UPT      0 must be RZ               - must be -RZ
//   h, l two printed halves of one 32-bit immediate, upper first: source a;   X, Y source b;   Z, V source c
//   K a constant bank at a register's offset    G the global address of LDGSTS    s shown only by the spelling
using Roles = std::string_view;

// The operand modifiers that a form's sources may have; any other is refused.
enum class SourceModifiers : uint8_t {
  none,
  sign,    // -x, |x| of a float
  negate,  // -x of an integer, two's complement
  invert,  // ~x
};

struct Form {
  Family family = Family::nop;
  Roles roles;
  SourceModifiers modifiers = SourceModifiers::none;
  InstructionClass instruction_class = InstructionClass::other;
  ModifierDecoder* decode = modifiers::plain;
  uint16_t row = 0;  // index into the list
};

// The evidence for a form on the list.
enum class Basis : uint8_t {
  recorded,  // results of a GPU, for this spelling
  kin,  // recorded with sources of another kind, for lanes where this form is uniform, or without a predicate that was
        // recorded with another width
  definition,  // the instruction's definition, and kernels whose whole output is correct
};

// The list's name for HFMA2 of -0·0 and a packed immediate, which the compiler uses to make constants.
constexpr std::string_view kHalfConstant = "HFMA2 constant";
// The tested form with that spelling (form_of), or nullptr.
const Form* find_form(std::string_view spelling);
Basis basis_of(std::string_view spelling);  // the form must be on the list
// The tested forms, spelled as by form_of(): "FFMA.FTZ R,R,R,R".
std::vector<std::string> supported_forms();
// The spelling of an instruction's form: opcode, modifiers, operand kinds.
std::string form_of(const compile::SassInstruction& instruction);

}  // namespace attnscope::emulator
