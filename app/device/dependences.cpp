#include "device/dependences.h"

#include <algorithm>
#include <bitset>
#include <cstddef>

#include "core/listing.h"

namespace attnscope::device {
namespace {

using emulator::Op;
using emulator::Registers;

using code_value::kPredicate;
using code_value::kUniform;
using Values = std::bitset<code_value::kEnd>;
static_assert(code_value::kUniformPredicate - kPredicate == emulator::kUniformPredicates);

// Usual latencies in clocks (stall counts between a producer and its consumer in compiled code, sm_80 to sm_90).
constexpr int kTensorClocks = 24, kDoubleClocks = 10, kPredicateClocks = 13, kUniformClocks = 12, kUsualClocks = 5;
// A stall count that exceeds every result's latency by more than this has another reason.
constexpr int kMostRoom = 8;
constexpr int kMostClocks = 48;  // between producer and consumer

// How many registers hold each operand.
struct Widths {
  size_t dst = 1, a = 1, b = 1, c = 1, e = 1;
};

bool is_tensor(const compile::SassInstruction& instruction) {
  return instruction.opcode == "HMMA" || instruction.opcode == "IMMA" || instruction.opcode == "DMMA";
}

bool is_double(const compile::SassInstruction& instruction) {
  return instruction.opcode == "DADD" || instruction.opcode == "DMUL" || instruction.opcode == "DFMA" ||
         instruction.opcode == "DSETP" || instruction.opcode == "DMNMX";
}

Widths widths_of(const compile::SassInstruction& instruction, const Op& op) {
  if (is_tensor(instruction)) {
    const bool half = has_modifier(instruction, "F16");
    const size_t sums = half ? 2 : 4;
    const bool shallow = has_modifier(instruction, "1688") || has_modifier(instruction, "1684");
    return {.dst = sums, .a = shallow ? 2U : 4U, .b = shallow ? 1U : 2U, .c = sums};
  }
  if (is_double(instruction)) return {2, 2, 2, 2, 2};
  if (op.access != emulator::AccessKind::none) {
    const size_t data = std::max<size_t>(1, op.bytes / 4), address = op.space == emulator::Space::shared ? 1 : 2;
    return {.dst = data, .a = address, .b = 1, .c = data, .e = 2};
  }
  if (has_modifier(instruction, "WIDE")) return {.dst = 2, .c = 2};
  return {};
}

class Usage {
 public:
  explicit Usage(const emulator::Program& program) : registers_(program.lane_registers) {}

  Values written(const compile::SassInstruction& instruction, const Op& op) const {
    Values values;
    add_register(values, op.dst, widths_of(instruction, op).dst);
    add_predicate(values, op.p);
    add_predicate(values, op.q);
    return values;
  }

  Values read(const compile::SassInstruction& instruction, const Op& op) const {
    const Widths widths = widths_of(instruction, op);
    Values values;
    add_register(values, op.a, widths.a);
    add_register(values, op.b, widths.b);
    add_register(values, op.c, widths.c);
    add_register(values, op.e, widths.e);
    for (const uint8_t predicate : {op.pred, op.x, op.y, op.z}) add_predicate(values, predicate);
    return values;
  }

 private:
  // RZ and URZ are not results.
  void add_register(Values& values, uint32_t offset, size_t width) const {
    constexpr size_t kBytes = 128, kUniformBegin = offsetof(Registers, ur);
    if (offset >= emulator::kLaneFileOffset) {
      const size_t first = (offset - emulator::kLaneFileOffset) / kBytes;
      for (size_t r = first; r < std::min<size_t>(first + width, registers_); ++r) values.set(r);
    } else if (offset >= kUniformBegin && offset < kUniformBegin + 4 * size_t{emulator::kUniformZero}) {
      values.set(kUniform + (offset - kUniformBegin) / 4);
    }
  }

  static void add_predicate(Values& values, uint8_t slot) {
    const bool constant =
        slot % emulator::kUniformPredicates >= emulator::kPredicateTrue;  // PT as a source or destination
    if (!constant) values.set(kPredicate + slot);
  }

  size_t registers_;
};

int usual_clocks(const compile::SassInstruction& instruction, const Op& op, const Values& shared) {
  if (is_tensor(instruction)) return kTensorClocks;
  if (is_double(instruction)) return kDoubleClocks;
  if (instruction.opcode.starts_with('U')) return kUniformClocks;
  for (const uint8_t slot : {op.p, op.q})
    if (slot < 32 && shared.test(kPredicate + slot)) return kPredicateClocks;
  return kUsualClocks;
}

}  // namespace

std::vector<uint8_t> fixed_dependences(const emulator::Program& program) {
  const auto& instructions = program.sass->instructions;
  const Usage usage(program);
  std::vector<Values> written;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const bool scoreboard = instructions[i].control.write_scoreboard < 6;
    written.push_back(scoreboard ? Values() : usage.written(instructions[i], program.ops[i]));
  }
  std::vector<uint8_t> distances(instructions.size());
  for (const emulator::Block& block : program.blocks)
    for (uint32_t i = block.first + 1; i < block.first + block.count; ++i) {
      const Values read = usage.read(instructions[i], program.ops[i]);
      int between = 0, least = kMostRoom + 1;
      Values later;  // written after the candidate, so the instruction does not read the candidate's value of these
      for (uint32_t p = i; p-- > block.first && between < kMostClocks;) {
        between += instructions[p].control.stall;
        const Values shared = written[p] & read & ~later;
        later |= written[p];
        if (shared.none()) continue;
        const int room = std::abs(between - usual_clocks(instructions[p], program.ops[p], shared));
        if (room >= least) continue;
        least = room;
        distances[i] = static_cast<uint8_t>(i - p);
      }
    }
  return distances;
}

std::vector<ValuesOf> values_of(const emulator::Program& program) {
  const auto numbers = [](const Values& values) {
    std::vector<int64_t> set;
    for (size_t value = 0; value < values.size(); ++value)
      if (values.test(value)) set.push_back(static_cast<int64_t>(value));
    return set;
  };
  const Usage usage(program);
  std::vector<ValuesOf> all;
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const compile::SassInstruction& instruction = program.sass->instructions[i];
    all.push_back(
        {numbers(usage.read(instruction, program.ops[i])), numbers(usage.written(instruction, program.ops[i]))});
  }
  return all;
}

}  // namespace attnscope::device
