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
  double lanes = 0;       // active lanes of them
  double wavefronts = 0;  // of shared memory
  double ideal = 0;       // those without bank conflicts
  double sectors = 0;     // of 32 bytes; global and local
  double us = 0;          // of the modelled time: its issues, and what others wait for it
  bool operator==(const CodeCounts&) const = default;
};

// The scheduling half of an instruction's encoding, as the machine code states it.
struct CodeControl {
  static constexpr int kNone = 7;  // no barrier
  int stall = 0;                   // clocks until the warp's next instruction
  bool yields = false;             // the scheduler is asked to prefer another warp
  int write_barrier = kNone;       // scoreboard that is released when the result is there
  int read_barrier = kNone;        // scoreboard that is released when the sources are read
  int wait_mask = 0;               // bit n: waits for scoreboard n
  int reuse = 0;                   // bit n: source n stays in the operand cache
  bool operator==(const CodeControl&) const = default;
};

// What instructions read and write, as numbers: R0 is 0, UR0 kUniform, P0 kPredicate, UP0 kUniformPredicate.
namespace code_value {
inline constexpr int kUniform = 264, kPredicate = kUniform + 64, kUniformPredicate = kPredicate + 16,
                     kEnd = kPredicate + 32;
std::string name(int value);  // "R4", "UR2", "P0", "UP1"
}  // namespace code_value

// One SASS instruction; its address is 16 times its index in the listing.
struct CodeLine {
  std::string text{};               // as nvdisasm prints it
  std::vector<CodePlace> places{};  // its line, then the calls it is inlined through, innermost first
  CodeControl control{};
  std::vector<int64_t> reads{}, writes{};   // code_value; empty where they are not known
  bool guarded = false;                     // a predicate may keep it from writing
  std::vector<int64_t> targets{};           // instructions that it may jump to
  bool falls_through = true;                // the next instruction may follow
  std::vector<MatrixFragment> fragments{};  // its matrices in the lanes' registers: of Tensor Cores, LDSM and MOVM
  std::optional<CodeCounts> counts{};       // of an emulated run
  std::optional<SharedSteps> shared{};      // where one CTA of that run accessed shared memory
  bool operator==(const CodeLine&) const = default;
};

// The code of an experiment: SASS with its source lines, and what each instruction did if the worker still has its
// emulated run. It is made on request and kept in a bounded cache, never in an Observation.
struct Listing {
  static constexpr size_t kMostLines = 1 << 16;
  std::string experiment_hash{};
  std::vector<std::string> files{};  // names in the line table
  std::vector<CodeLine> lines{};
  std::string ptx{};
  bool counted = false;  // lines have counts
  int64_t emulated_ctas = 0, total_ctas = 0;
  std::vector<SharedPlace> places{};      // what has a name in that run's shared memory
  std::optional<std::string> launch{};    // of a program: whose code it is, "launch 2, row_sum"
  std::optional<SoftmaxSteps> softmax{};  // what the code held of one query row; the listing has no lines then
  std::optional<SmTimeline> timeline{};   // of the run's SMs; the listing has no lines then
  bool operator==(const Listing&) const = default;
};

Json to_json(const Listing& listing);
Result<Listing> listing_from_json(const Json& json, const std::string& where);

}  // namespace attnscope
