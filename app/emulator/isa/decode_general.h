#pragma once
#include "compile/sass.h"
#include "emulator/isa/op.h"

namespace attnscope::emulator {

// Fill an Op from an instruction's modifiers: fields of general handlers, and of every memory access (bytes, space,
// access).
void configure_general(const compile::SassInstruction& instruction, int arch, Op& op);
void configure_memory(const compile::SassInstruction& instruction, Op& op);

}  // namespace attnscope::emulator
