// Finds a program's straight runs and the source lines of its instructions.
#include "emulator/isa/program.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <span>

namespace attnscope::emulator {

void find_blocks(Program& program) {
  const auto count = static_cast<uint32_t>(program.ops.size());
  std::vector<bool> leader(count + 1, false);
  leader[0] = leader[count] = true;
  for (uint32_t i = 0; i < count; ++i) {
    const Op& op = program.ops[i];
    if (!is_control(op.family)) continue;
    leader[i + 1] = true;
    // Lanes may reach these instructions in groups. Each group must enter here, not at the start of the preceding run,
    // which all of them have already executed.
    const bool parts = op.family == Family::ret || op.family == Family::brx || op.family == Family::call_absolute ||
                       op.family == Family::bsync || op.family == Family::warpsync;
    if (parts) leader[i] = true;
    const bool jumps = op.family == Family::bra || op.family == Family::bra_any || op.family == Family::bra_div ||
                       op.family == Family::bra_conv;
    if (jumps) leader[op.imm] = true;
  }
  for (const auto& instruction : program.sass->instructions) {  // calls by address may return to any label
    if (instruction.opcode != "LEPC") continue;
    if (instruction.operands.size() == 2) leader[static_cast<size_t>(instruction.operands[1].value) / 16] = true;
  }
  const bool has_tables =
      std::any_of(program.ops.begin(), program.ops.end(), [](const Op& op) { return op.family == Family::brx; });
  for (const auto& bank : program.sass->kernel.banks) {  // jump tables: any instruction's offset may be a target
    if (!has_tables || bank.index != 2) continue;
    for (size_t at = 0; at + 4 <= bank.data.size(); at += 4) {
      uint32_t offset;
      std::memcpy(&offset, bank.data.data() + at, 4);
      if (offset % 16 == 0 && offset / 16 < count) leader[offset / 16] = true;
    }
  }
  for (const auto& [name, offset] : program.sass->kernel.functions) {
    if (offset / 16 < count) leader[offset / 16] = true;
  }
  program.block_of.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    if (leader[i]) program.blocks.push_back({i, 0});
    ++program.blocks.back().count;
    program.block_of[i] = static_cast<uint32_t>(program.blocks.size() - 1);
  }
}

std::string line_name(const compile::SassProgram& sass, const compile::SassLine& line) {
  return line.line != 0 && line.file < sass.files.size() ? fmt::format("{}:{}", sass.files[line.file], line.line)
                                                         : std::string("an unknown source line");
}

std::string source_of(const Program& program, uint32_t op, size_t calls_up) {
  const auto& sass = *program.sass;
  if (op >= sass.instructions.size()) return line_name(sass, {});
  const auto& instruction = sass.instructions[op];
  const std::span callers =
      std::span(instruction.inlined_at).subspan(std::min(calls_up, instruction.inlined_at.size()));
  std::string text =
      line_name(sass, calls_up == 0 || instruction.inlined_at.empty()
                          ? instruction.line
                          : instruction.inlined_at[std::min(calls_up, instruction.inlined_at.size()) - 1]);
  // A library's code is many calls deep; its own line and the kernel's line are enough.
  if (callers.size() > 3)
    return fmt::format("{}, {} calls below {}", text, callers.size(), line_name(sass, callers.back()));
  for (const compile::SassLine& caller : callers) text += ", inlined at " + line_name(sass, caller);
  return text;
}

size_t equal_calls(const Program& program, uint32_t a, uint32_t b) {
  const auto &one = program.sass->instructions[a], &other = program.sass->instructions[b];
  if (one.line != other.line) return 0;
  const auto differ = std::ranges::mismatch(one.inlined_at, other.inlined_at);
  return static_cast<size_t>(differ.in1 - one.inlined_at.begin()) + 1;
}

}  // namespace attnscope::emulator
