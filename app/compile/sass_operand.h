#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compile/sass.h"

namespace attnscope::compile {

using SassLabels = std::map<std::string, uint32_t, std::less<>>;  // → byte offset in .text

// The operands of an instruction, from the text after its opcode ("R4, [R2.64+0x10]", "R10 `(k1)").
std::vector<SassOperand> parse_operands(std::string_view text, const SassLabels& labels);

// Sets the bits of floating-point immediates of `instruction` from its encoding. The printed number shows which half
// and which precision; an immediate that fits none becomes OperandKind::text.
void settle_float_immediates(SassInstruction& instruction);

}  // namespace attnscope::compile
