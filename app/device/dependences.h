#pragma once
#include <cstdint>
#include <vector>

#include "emulator/isa/program.h"

namespace attnscope::device {

// For each instruction, how many instructions before it stands the one whose result of fixed latency it waits for by
// stall counts; 0: there is none in its straight run. Results of variable latency are waited for by scoreboards, which
// the code names.
//
// The code states clocks and not what they are for. Of the registers and predicates that the instruction reads, the one
// is taken that is there last: made by the instruction whose usual latency leaves the least room over the stall counts
// between the two.
std::vector<uint8_t> fixed_dependences(const emulator::Program& program);

// The registers and predicates that an instruction reads and writes, as code_value (core/listing.h) numbers them.
struct ValuesOf {
  std::vector<int64_t> read, written;
};
std::vector<ValuesOf> values_of(const emulator::Program& program);

}  // namespace attnscope::device
