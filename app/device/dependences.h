#pragma once
#include <cstdint>
#include <vector>

#include "emulator/isa/program.h"

namespace attnscope::device {

// Returns, for each instruction, the distance in instructions back to the producer whose fixed-latency result it waits
// for by stall counts; 0: there is none in its straight-line run. Instructions wait for results of variable latency
// through scoreboards, which the code names.
//
// The code states clocks, not what they are for. So the function takes the register or predicate that is ready last
// among those that the instruction reads: its producer's usual latency leaves the least room under the stall counts
// between the two.
std::vector<uint8_t> fixed_dependences(const emulator::Program& program);

// The registers and predicates that an instruction reads and writes, as code_value (core/listing.h) numbers them.
struct ValuesOf {
  std::vector<int64_t> read, written;
};
std::vector<ValuesOf> values_of(const emulator::Program& program);

}  // namespace attnscope::device
