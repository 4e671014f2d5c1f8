#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/observation.h"
#include "emulator/exec/access_counts.h"
#include "emulator/isa/instruction_class.h"

namespace attnscope::emulator {

// The counts of one SASS instruction.
struct InstructionCounters : AccessCounts {
  uint64_t issued = 0;      // warp instructions, including those with every lane predicated off
  uint64_t threads = 0;     // active lanes, whether predicated on or off
  uint64_t threads_on = 0;  // active lanes with a true guard predicate

  InstructionCounters& operator+=(const InstructionCounters& other);
  bool operator==(const InstructionCounters&) const = default;
};

// Sums over the CTAs that ran; never scaled up to the grid.
struct RunCounters {
  uint64_t warp_instructions = 0;
  std::array<uint64_t, static_cast<size_t>(InstructionClass::count)> by_class{};
  uint64_t threads = 0;     // thread instructions, active lanes
  uint64_t threads_on = 0;  // with a true guard predicate
  uint64_t shared_load_wavefronts = 0, shared_store_wavefronts = 0, shared_atomic_wavefronts = 0;
  // Shuffles, openings of CTA barriers, reads of SR_TID and loads with every lane off, which the hardware counts only
  // in its total.
  uint64_t shared_other_wavefronts = 0;
  uint64_t shared_ideal_wavefronts = 0;  // of loads, stores and atomics
  uint64_t shared_bank_conflicts = 0;    // their wavefronts above the ideal
  uint64_t shared_load_instructions = 0, shared_store_instructions = 0;
  uint64_t global_load_requests = 0, global_load_sectors = 0;
  uint64_t global_store_requests = 0, global_store_sectors = 0;
  uint64_t local_load_sectors = 0, local_store_sectors = 0;
  uint64_t barriers = 0;  // warp arrivals at CTA barriers
  uint64_t ctas = 0, total_ctas = 0;

  double active_lanes_mean() const { return warp_instructions ? double(threads) / double(warp_instructions) : 0; }
  uint64_t shared_wavefronts() const {
    return shared_load_wavefronts + shared_store_wavefronts + shared_atomic_wavefronts + shared_other_wavefronts;
  }
  double sampled_fraction() const { return total_ctas ? double(ctas) / double(total_ctas) : 0; }
  bool operator==(const RunCounters&) const = default;
};

struct Program;
// Adds up the instructions' counters. `instructions` has one entry for each of the program's instructions.
RunCounters sum_up(const Program& program, const std::vector<InstructionCounters>& instructions);

// The counters of an Observation.
Counters counters_of(const RunCounters& counters);

}  // namespace attnscope::emulator
