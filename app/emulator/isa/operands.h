#pragma once
#include <cstdint>

#include "compile/sass.h"
#include "emulator/isa/forms.h"
#include "emulator/isa/modifiers.h"
#include "emulator/isa/program.h"

namespace attnscope::emulator {

// Turns the operands of a program's instructions into offsets in the Registers. Immediates, and constants read at a
// fixed offset, become Program::constants.
class Operands {
 public:
  explicit Operands(Program& program);

  uint32_t zero_register() const { return lane_register(static_cast<int>(program_.lane_registers)); }
  uint32_t trash_register() const { return zero_register() + kZeroRegisters * 128; }
  // Reads operand `i` of the instruction by its role in the form.
  Refusal read(const compile::SassInstruction& instruction, size_t i, const Form& form, Op& op);

 private:
  struct Source {
    uint32_t offset = 0;
    bool one = false;  // one value for all lanes
  };

  static uint32_t lane_register(int index) { return kLaneFileOffset + static_cast<uint32_t>(index) * 128; }
  uint32_t source_register(int index) const { return index == 255 ? zero_register() : lane_register(index); }
  uint32_t target_register(int index) const { return index == 255 ? trash_register() : lane_register(index); }
  uint32_t constant(ConstantSource low, const ConstantSource* high = nullptr);
  Refusal source(const compile::SassOperand& operand, bool wide, Source& found);
  Refusal set_source(const compile::SassOperand& operand, const Form& form, char role, Op& op);
  Refusal set_half(const compile::SassOperand& operand, char role, Op& op);
  Refusal set_address(const compile::SassOperand& operand, Op& op) const;
  Refusal set_bank(const compile::SassOperand& operand, Op& op) const;
  Refusal set_copy_source(const compile::SassOperand& operand, Op& op) const;
  Refusal set_target(const compile::SassOperand& operand, Op& op) const;

  Program& program_;
};

}  // namespace attnscope::emulator
