#include "device/register_reads.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "emulator/isa/fragments.h"

namespace attnscope::device {
namespace {

using compile::OperandKind;
using model::Unit;

constexpr int kZero = 255;  // RZ is in no bank
constexpr size_t kPlaces = 3;

// The first of the `width` registers of an operand; kZero: none.
struct Source {
  int reg = kZero;
  int width = 1;
  bool reuse = false;
};
using Sources = std::array<Source, kPlaces>;

int width_of(const compile::SassInstruction& instruction, const emulator::Op& op, Unit unit, size_t place) {
  if (unit == Unit::tensor) {
    const emulator::TensorShape& shape = op.detail.tensor;
    const MatrixFragment operand = place == 0   ? emulator::fragment_a(shape)
                                   : place == 1 ? emulator::fragment_b(shape)
                                                : emulator::fragment_c(shape);
    return static_cast<int>(registers_of(operand));
  }
  if (unit == Unit::fp64) return 2;
  return place == 2 && has_modifier(instruction, "WIDE") ? 2 : 1;
}

// True for units that read their operands later, while others are queued.
bool has_own_queue(Unit unit) {
  switch (unit) {
    case Unit::shuffle:
    case Unit::shared_load:
    case Unit::shared_store:
    case Unit::global_load:
    case Unit::global_store:
    case Unit::local_load:
    case Unit::local_store:
    case Unit::async_copy:
    case Unit::constant_load:
      return true;
    default:
      return false;
  }
}

// In the order of the encoding: destinations first, then up to three slots, each filled by a register, a constant, a
// uniform register or an immediate; predicates have slots of their own.
Sources sources_of(const compile::SassInstruction& instruction, const emulator::Op& op, Unit unit) {
  Sources sources;
  if (has_own_queue(unit)) return sources;
  size_t place = 0;
  bool destination = true;
  for (const compile::SassOperand& operand : instruction.operands) {
    if (operand.kind == OperandKind::predicate || operand.kind == OperandKind::uniform_pred) {
      if (&operand == &instruction.operands.front()) destination = false;  // it sets predicates only
      continue;
    }
    if (std::exchange(destination, false)) continue;
    if (place == kPlaces) break;
    if (operand.kind == OperandKind::reg)
      sources[place] = {operand.reg, width_of(instruction, op, unit, place), operand.reuse};
    ++place;
  }
  return sources;
}

}  // namespace

void count_bank_reads(const std::vector<compile::SassInstruction>& instructions, const std::vector<emulator::Op>& ops,
                      std::vector<model::ScheduledInstruction>& scheduled) {
  Sources before;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Sources sources = sources_of(instructions[i], ops[i], scheduled[i].unit);
    for (size_t place = 0; place < kPlaces; ++place) {
      const Source& source = sources[place];
      const auto same = [&](const Source& other) { return other.reg == source.reg && other.width == source.width; };
      if (source.reg == kZero || std::any_of(sources.begin(), sources.begin() + long(place), same)) continue;
      const bool cached = before[place].reuse && before[place].reg == source.reg;
      for (int n = 0; n < source.width; ++n) {
        const auto bank = static_cast<size_t>((source.reg + n) % 2);
        ++scheduled[i].bank_reads_alone[bank];
        if (!cached) ++scheduled[i].bank_reads[bank];
      }
    }
    before = sources;
  }
}

}  // namespace attnscope::device
