#pragma once
#include <map>
#include <vector>

#include "compile/sass.h"
#include "core/listing.h"
#include "core/shared_access.h"
#include "emulator/exec/counters.h"
#include "emulator/isa/program.h"
#include "model/stall.h"

namespace attnscope::device {

// An emulated run's results by instruction.
struct CodeRun {
  std::vector<emulator::InstructionCounters> instructions;
  std::vector<model::Stall> stalls;  // us; empty: the model gives none
  int64_t emulated_ctas = 0, total_ctas = 0;
  std::map<uint32_t, SharedSteps> shared;  // by instruction index
  std::vector<SharedPlace> places;         // the named parts of the run's shared memory
};

// The code with its source lines. `program` is the same code decoded and supplies what each instruction reads and
// writes; null: unknown. `run` may be null. Failure (Stage::decode): more than Listing::kMostLines instructions.
Result<Listing> listing_of(const compile::SassProgram& sass, const emulator::Program* program, const CodeRun* run);

}  // namespace attnscope::device
