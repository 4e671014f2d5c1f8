#include "emulator/isa/operands.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace attnscope::emulator {

namespace {

using compile::OperandKind;
using compile::SassInstruction;
using compile::SassOperand;

uint32_t special_slot(std::string_view name) {
  constexpr std::string_view names[] = {"SR_CTAID.X", "SR_CTAID.Y", "SR_CTAID.Z", "SR_CgaCtaId", "SR_SWINHI"};
  const auto found = std::find(std::begin(names), std::end(names), name);
  return offsetof(Registers, specials) + 4 * static_cast<uint32_t>(found - std::begin(names));
}

uint32_t uniform_register(int index) {
  return static_cast<uint32_t>(offsetof(Registers, ur)) + 4 * static_cast<uint32_t>(index);
}
uint32_t target_uniform(int index) { return uniform_register(index == kUniformZero ? kUniformTrash : index); }
uint8_t predicate_slot(const SassOperand& operand, bool target) {
  const int index = target && operand.reg == kPredicateTrue ? kPredicateTrash : operand.reg;
  return static_cast<uint8_t>(index + (operand.kind == OperandKind::uniform_pred ? kUniformPredicates : 0));
}

bool is_offset(int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

}  // namespace

Operands::Operands(Program& program) : program_(program) {
  uint32_t most = program.sass->kernel.registers;
  for (const SassInstruction& instruction : program.sass->instructions) {
    for (const SassOperand& operand : instruction.operands) {
      const bool lane =
          operand.kind == OperandKind::reg ||
          ((operand.kind == OperandKind::address || operand.kind == OperandKind::constant) && !operand.reg_is_uniform);
      // A 128-bit access names only the first of its four registers.
      if (lane && operand.reg >= 0 && operand.reg < 255) most = std::max(most, static_cast<uint32_t>(operand.reg) + 4);
      if (operand.kind == OperandKind::constant && operand.bank >= 0)
        program.reads_bank[static_cast<uint32_t>(operand.bank) % kConstantBanks] = true;
    }
  }
  program.lane_registers = std::min(most, 259u);
}

// Places two constants that are read as a pair next to each other.
uint32_t Operands::constant(ConstantSource low, const ConstantSource* high) {
  auto& all = program_.constants;
  size_t i = 0;
  while (i < all.size() && !(all[i] == low && (high == nullptr || (i + 1 < all.size() && all[i + 1] == *high)))) ++i;
  if (i == all.size()) {
    all.push_back(low);
    if (high != nullptr) all.push_back(*high);
  }
  return static_cast<uint32_t>(offsetof(Registers, constants) + 4 * i);
}

// Finds the offset at which a source operand is read; `wide` for 64 bits.
Refusal Operands::source(const SassOperand& operand, bool wide, Source& found) {
  switch (operand.kind) {
    case OperandKind::reg:
      found = {source_register(operand.reg), false};
      return nullptr;
    case OperandKind::uniform_reg:
      found = {uniform_register(operand.reg), true};
      return nullptr;
    case OperandKind::immediate: {
      ConstantSource low{-1, static_cast<uint32_t>(operand.value)};
      ConstantSource high{-1, static_cast<uint32_t>(static_cast<uint64_t>(operand.value) >> 32)};
      if (wide && operand.is_float) std::swap(low, high);  // a double immediate is its upper half
      found = {constant(low, wide ? &high : nullptr), true};
      return nullptr;
    }
    case OperandKind::constant: {
      if (operand.value < 0 || operand.value > 0xffff || operand.value % 4 != 0) return "the constant address";
      const ConstantSource low{operand.bank, static_cast<uint32_t>(operand.value)};
      const ConstantSource high{operand.bank, static_cast<uint32_t>(operand.value) + 4};
      found = {constant(low, wide ? &high : nullptr), true};
      return nullptr;
    }
    case OperandKind::special:
      if (operand.raw == "SR_LANEID") {
        found = {offsetof(Registers, lane_id), false};
      } else if (operand.raw.starts_with("SR_TID.")) {
        const auto axis = static_cast<uint32_t>(operand.raw.back() - 'X');
        found = {static_cast<uint32_t>(offsetof(Registers, tid)) + 128u * axis, false};
      } else if (operand.raw == "SR_VIRTUALSMID") {  // CTAs run one after the other, as on one SM, whose number is 0
        found = {constant(ConstantSource{-1, 0}, nullptr), true};
      } else {
        found = {special_slot(operand.raw), true};
      }
      return nullptr;
    default:
      return "an operand";
  }
}

Refusal Operands::set_source(const SassOperand& operand, const Form& form, char role, Op& op) {
  const int slot = role == 'a' || role == 'w' ? 0 : role == 'b' || role == 'v' ? 1 : 2;
  uint32_t* const offsets[] = {&op.a, &op.b, &op.c};
  uint32_t* const ands[] = {&op.and_a, &op.and_b, &op.and_c};
  uint32_t* const xors[] = {&op.xor_a, &op.xor_b, &op.xor_c};
  uint8_t* const signs[] = {&op.sign_a, &op.sign_b, &op.sign_c};
  Source where;
  if (const Refusal refusal = source(operand, role == 'k' || role == 'w' || role == 'v', where)) return refusal;
  *offsets[slot] = where.offset;
  op.half[slot] = half_of(operand);
  op.one |= static_cast<uint8_t>(where.one << slot);
  if (where.one && !is_uniform(form.family))
    op.variant |= static_cast<uint8_t>(!is_shuffle(form.family) ? slot + 1 : slot == 1 ? 2 : 1);
  const bool sign = form.modifiers == SourceModifiers::sign;
  if ((operand.negate && !sign && form.modifiers != SourceModifiers::negate) || (operand.absolute && !sign) ||
      (operand.invert && form.modifiers != SourceModifiers::invert)) {
    return "an operand modifier";
  }
  if (operand.absolute) *ands[slot] = 0x7fffffffu;
  if (operand.negate) *xors[slot] = sign ? 0x80000000u : kFull;
  if (operand.negate && !sign) *signs[slot] = 1;
  if (operand.invert) *xors[slot] = kFull;
  if (operand.absolute || operand.negate || operand.invert) op.variant |= Variant::modified;
  return nullptr;
}

// Sets the constant's two halves. A NaN would become the canonical one, but no compiler emits one here.
Refusal Operands::set_half(const SassOperand& operand, char role, Op& op) {
  const auto half = static_cast<uint32_t>(operand.value);
  const bool makes_constant = role == 'h' || role == 'l';
  if (half > 0xffff || (makes_constant && (half & 0x7fff) > 0x7c00)) return "a constant";
  const bool upper = role == 'h' || role == 'X' || role == 'Z';
  op.imm = upper ? half << 16 : op.imm | half;
  if (upper) return nullptr;
  const uint32_t where = constant({-1, op.imm});
  if (role == 'l') {
    op.a = where;
    op.variant |= Variant::a;
  }
  if (role == 'Y') {
    op.b = where;
    op.one |= 2;
  }
  if (role == 'V') {
    op.c = where;
    op.one |= 4;
  }
  return nullptr;
}

Refusal Operands::set_address(const SassOperand& operand, Op& op) const {
  if (!is_offset(operand.value)) return "an address offset";
  op.imm = static_cast<uint32_t>(operand.value);
  op.a = operand.reg >= 0 && !operand.reg_is_uniform ? source_register(operand.reg) : zero_register();
  const int uniform = operand.reg_is_uniform ? operand.reg : operand.uniform_offset;
  if (uniform >= 0) {
    op.flags |= op_address_uniform;
    op.b = uniform_register(uniform);
  }
  for (const std::string& modifier : operand.modifiers) {
    if (modifier == "X4") op.shift = 2;
    if (modifier == "X8") op.shift = 3;
    if (modifier == "X16") op.shift = 4;
  }
  op.flags |= op_touches_memory;
  return nullptr;
}

Refusal Operands::set_bank(const SassOperand& operand, Op& op) const {
  if (operand.value < 0 || operand.value > 0xffff) return "the constant address";
  op.a = operand.reg < 0          ? zero_register()
         : operand.reg_is_uniform ? uniform_register(operand.reg)
                                  : source_register(operand.reg);
  if (operand.reg_is_uniform) op.one |= 1;
  op.imm = static_cast<uint32_t>(operand.value);
  op.detail.bank = static_cast<uint32_t>(operand.bank);
  return nullptr;
}

Refusal Operands::set_copy_source(const SassOperand& operand, Op& op) const {
  if (operand.reg < 0 || operand.reg_is_uniform || operand.uniform_offset >= 0 || !is_offset(operand.value))
    return "an address";
  op.e = source_register(operand.reg);
  op.detail.source_offset = static_cast<int32_t>(operand.value);
  return nullptr;
}

Refusal Operands::set_target(const SassOperand& operand, Op& op) const {
  const bool stands = operand.value >= 0 && operand.value % 16 == 0 &&
                      static_cast<size_t>(operand.value) / 16 < program_.sass->instructions.size();
  if (!stands) return "a branch target";
  op.imm = static_cast<uint32_t>(operand.value / 16);
  return nullptr;
}

Refusal Operands::read(const SassInstruction& instruction, size_t i, const Form& form, Op& op) {
  const SassOperand& operand = instruction.operands[i];
  switch (const char role = form.roles[i]) {
    case 'd':
      op.dst = target_register(operand.reg);
      return nullptr;
    case 'D':
      op.dst = target_uniform(operand.reg);
      return nullptr;
    case 'p':
      op.p = predicate_slot(operand, true);
      return nullptr;
    case 'q':
      op.q = predicate_slot(operand, true);
      return nullptr;
    case 'a':
    case 'b':
    case 'c':
    case 'k':
    case 'w':
    case 'v':
      return set_source(operand, form, role, op);
    case 'e':
      op.e = source_register(operand.reg);
      return operand.negate || operand.invert ? "an operand modifier" : nullptr;
    case 'x':
      op.x = predicate_slot(operand, false);
      op.x_invert = operand.invert;
      return nullptr;
    case 'y':
      op.y = predicate_slot(operand, false);
      op.y_invert = operand.invert;
      return nullptr;
    case 'z':
      op.z = predicate_slot(operand, false);
      op.z_invert = operand.invert;
      return nullptr;
    case 'i':
      op.imm = static_cast<uint32_t>(operand.value);
      return nullptr;
    case 'j':
      op.second = static_cast<uint32_t>(operand.value);
      return nullptr;
    case 'B':
      op.barrier = static_cast<uint8_t>(operand.reg);
      return nullptr;
    case 'm':
      return set_address(operand, op);
    case 'K':
      return set_bank(operand, op);
    case 'G':
      return set_copy_source(operand, op);
    case 't':
      return set_target(operand, op);
    case 'N':
      return operand.reg == kPredicateTrue && operand.invert ? nullptr : "the predicate operand";
    case '0':
      return operand.reg == 255 && !operand.negate && !operand.absolute ? nullptr : "an operand other than RZ";
    case '-':
      return operand.reg == 255 && operand.negate ? nullptr : "an operand other than -RZ";
    case 's':
      return nullptr;
    default:
      return set_half(operand, role, op);
  }
}

}  // namespace attnscope::emulator
