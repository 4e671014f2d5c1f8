#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compile/sass.h"
#include "core/result.h"
#include "emulator/isa/instruction_class.h"
#include "emulator/isa/op.h"

// isa/ reads machine code: which opcode forms are tested and run (forms.h), where each operand is (operands.h) and what
// each modifier means (modifiers.h). The result is a Program with an Op for each instruction. isa/ does not depend on
// how an Op is executed: a form's row names its code, which is in exec/.
namespace attnscope::emulator {

// A value that all lanes share and that is known at launch: an immediate, or 4 bytes of a constant bank.
struct ConstantSource {
  int bank = -1;       // -1: immediate
  uint32_t value = 0;  // the immediate, or the offset in the bank
  bool operator==(const ConstantSource&) const = default;
};

// A straight run of instructions: entered only at its first, left only after its last.
struct Block {
  uint32_t first = 0, count = 0;  // instructions; the last may be a control instruction
};

// A decoded kernel. Immutable, and the same for every host instruction set.
struct Program {
  std::shared_ptr<const compile::SassProgram> sass;
  std::vector<Op> ops;  // one per instruction; handlers are bound at launch
  std::vector<InstructionClass> classes;
  std::vector<uint32_t> block_of;  // by instruction
  std::vector<Block> blocks;
  std::vector<ConstantSource> constants;
  bool reads_bank[kConstantBanks] = {};  // constant banks that instructions name
  uint32_t lane_registers = 0;           // without RZ and trash
  uint32_t lane_file_bytes() const { return (lane_registers + kZeroRegisters + kTrashRegisters) * 128; }
};

// Finds the straight runs of the decoded instructions.
void find_blocks(Program& program);
// "02_tiled.cu:174", or a text saying that the line is not known.
std::string line_name(const compile::SassProgram& sass, const compile::SassLine& line);
// The source line of an instruction: "02_tiled.cu:174", followed by the callers of inlined code. `calls_up` starts at
// the line of that call instead; 1 is the innermost.
std::string source_of(const Program& program, uint32_t op, size_t calls_up = 0);
// How many calls up the source lines of two instructions first differ; 0: their own lines differ.
size_t equal_calls(const Program& program, uint32_t a, uint32_t b);

Result<std::shared_ptr<const Program>> decode(std::shared_ptr<const compile::SassProgram> sass);

}  // namespace attnscope::emulator
