#pragma once
#include <vector>

#include "compile/sass.h"
#include "emulator/isa/op.h"
#include "model/schedule.h"

namespace attnscope::device {

// Sets ScheduledInstruction::bank_reads and bank_reads_alone. Register n is in bank n mod 2. An operand is read from
// its bank unless the instruction before left it in the operand cache: the same register in the same place, marked
// .reuse. Instructions of variable latency read their operands later and count none. `ops` are the same instructions
// decoded; their matrices tell how many registers a Tensor Core reads.
void count_bank_reads(const std::vector<compile::SassInstruction>& instructions, const std::vector<emulator::Op>& ops,
                      std::vector<model::ScheduledInstruction>& scheduled);

}  // namespace attnscope::device
