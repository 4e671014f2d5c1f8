#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/fragment.h"
#include "core/json_fwd.h"
#include "core/result.h"
#include "core/shared_access.h"
#include "core/sm_timeline.h"
#include "core/softmax_steps.h"

namespace attnscope {

// A place in the source.
struct CodePlace {
  int64_t file = 0;  // index into Listing::files
  int64_t line = 0;  // from 1
  bool operator==(const CodePlace&) const = default;
};

// What one instruction did, summed over the emulated CTAs, and its share of the modelled time.
struct CodeCounts {
  double issued = 0;      // warp instructions
  double lanes = 0;       // their active lanes
  double wavefronts = 0;  // in shared memory
  double ideal = 0;       // wavefronts without bank conflicts
  double sectors = 0;     // of 32 bytes; global and local memory
  double us = 0;          // of the modelled time: its issues, and the waits of others for it
  bool operator==(const CodeCounts&) const = default;
};

// The scheduling half of an instruction's encoding, as the machine code states it.
struct CodeControl {
  static constexpr int kNone = 7;  // value of a barrier field: no barrier
  int stall = 0;                   // clocks until the warp's next instruction
  bool yields = false;             // the scheduler is asked to prefer another warp
  int write_barrier = kNone;       // the scoreboard released when the result is ready
  int read_barrier = kNone;        // the scoreboard released when the sources have been read
  int wait_mask = 0;               // bit n: it waits for scoreboard n
  int reuse = 0;                   // bit n: source n stays in the operand cache
  bool operator==(const CodeControl&) const = default;
};

// Numbers for what instructions read and write: R0 is 0, UR0 kUniform, P0 kPredicate, UP0 kUniformPredicate.
namespace code_value {
inline constexpr int kUniform = 264, kPredicate = kUniform + 64, kUniformPredicate = kPredicate + 16,
                     kEnd = kPredicate + 32;
std::string name(int value);  // "R4", "UR2", "P0", "UP1"
}  // namespace code_value

// One SASS instruction. Its address is 16 times its index in the listing.
struct CodeLine {
  std::string text{};               // as nvdisasm prints it
  std::vector<CodePlace> places{};  // its source line, then the calls it is inlined through, innermost first
  CodeControl control{};
  std::vector<int64_t> reads{}, writes{};   // code_value numbers; empty if unknown
  bool guarded = false;                     // predicated: it may not write
  std::vector<int64_t> targets{};           // indices of instructions that it may jump to
  bool falls_through = true;                // the next instruction may follow
  std::vector<MatrixFragment> fragments{};  // its matrices in the lanes' registers, for Tensor Cores, LDSM and MOVM
  std::optional<CodeCounts> counts{};       // from an emulated run
  std::optional<SharedSteps> shared{};      // the shared memory accesses of one CTA of that run
  bool operator==(const CodeLine&) const = default;
};

// The code of an experiment: SASS with its source lines, and each instruction's counts if the worker still has the
// emulated run. Made on request and kept in a bounded cache, never in an Observation.
struct Listing {
  static constexpr size_t kMostLines = 1 << 16;
  std::string experiment_hash{};
  std::vector<std::string> files{};  // names in the line table
  std::vector<CodeLine> lines{};
  std::string ptx{};
  bool counted = false;  // the lines have counts
  int64_t emulated_ctas = 0, total_ctas = 0;
  std::vector<SharedPlace> places{};      // the named parts of that run's shared memory
  std::optional<std::string> launch{};    // for a program: the launch whose code it is, "launch 2, row_sum"
  std::optional<SoftmaxSteps> softmax{};  // the softmax state of one query row; the listing then has no lines
  std::optional<SmTimeline> timeline{};   // of the run's SMs; the listing then has no lines
  bool operator==(const Listing&) const = default;
};

Json to_json(const Listing& listing);
Result<Listing> listing_from_json(const Json& json, const std::string& where);

}  // namespace attnscope
