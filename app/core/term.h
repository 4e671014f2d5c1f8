#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/words.h"

namespace attnscope {

// Where a clock of a modelled time goes. A wait that the machine code states goes to what is waited for: "global memory
// latency" is the time that warps wait for data on its way, "L2 bandwidth" the time that requests queue before that.
enum class TermKind {
  launch,  // an empty kernel's time, and the start of CTAs
  tail,    // the share of an SM's places that stay empty at the end because no CTA is left
  issue,   // a scheduler issues an instruction
  // Waits for a pipe that another instruction occupies:
  tensor_cores,
  integer,
  integer_multiply,
  fp32,
  fp16,
  fp64,
  half_conversions,
  conversions,
  mufu,
  uniform,
  shuffles,
  register_banks,  // of a scheduler, that another instruction still reads from
  // Waits for a queue to pass:
  shared_wavefronts,  // those that the accesses need
  bank_conflicts,     // the wavefronts beyond those
  l1_lines,           // the 128-byte lines of global and local requests, which take the same path
  l2_bandwidth,
  dram_bandwidth,  // of a problem that exceeds the L2
  // Waits for a result:
  instruction_latency,  // stall counts in the code
  tensor_latency,       // stall counts behind a Tensor Core product
  mufu_latency,         // MUFU and conversions
  shuffle_latency,
  constant_latency,
  shared_latency,
  global_latency,
  local_latency,
  jumps,
  instruction_fetch,  // from beyond the SM's nearest instruction cache
  barriers,
  other
};
template <>
struct Words<TermKind> {
  using enum TermKind;
  static constexpr WordTable<TermKind, 32> table{{{launch, "launch"},
                                                  {tail, "tail"},
                                                  {issue, "issue"},
                                                  {tensor_cores, "Tensor Cores"},
                                                  {integer, "integer"},
                                                  {integer_multiply, "integer multiply"},
                                                  {fp32, "FP32"},
                                                  {fp16, "FP16"},
                                                  {fp64, "FP64"},
                                                  {half_conversions, "half conversions"},
                                                  {conversions, "conversions"},
                                                  {mufu, "MUFU"},
                                                  {uniform, "uniform datapath"},
                                                  {shuffles, "shuffles"},
                                                  {register_banks, "register banks"},
                                                  {shared_wavefronts, "shared wavefronts"},
                                                  {bank_conflicts, "bank conflicts"},
                                                  {l1_lines, "L1 lines"},
                                                  {l2_bandwidth, "L2 bandwidth"},
                                                  {dram_bandwidth, "DRAM bandwidth"},
                                                  {instruction_latency, "instruction latency"},
                                                  {tensor_latency, "Tensor Core latency"},
                                                  {mufu_latency, "MUFU latency"},
                                                  {shuffle_latency, "shuffle latency"},
                                                  {constant_latency, "constant latency"},
                                                  {shared_latency, "shared memory latency"},
                                                  {global_latency, "global memory latency"},
                                                  {local_latency, "local memory latency"},
                                                  {jumps, "jumps"},
                                                  {instruction_fetch, "instruction fetch"},
                                                  {barriers, "barriers"},
                                                  {other, "other"}}};
};

// An instruction that carries a part of a term: what it waits for, or itself where it issues. `address` counts bytes
// from the kernel's first instruction; `source` is "02_tiled.cu:174", or empty where no line is known.
struct TermLine {
  int64_t address = 0;
  std::string source;
  double us = 0;
  int64_t waiting_address = 0;  // the instruction that waits for it longest; itself where it issues
  std::string waiting_source;
  std::optional<int64_t> launch = {};  // of a program's terms: the index of the launch whose instruction it is
  bool operator==(const TermLine&) const = default;
};

struct Term {
  static constexpr size_t kMostLines = 5;
  TermKind kind = TermKind::other;
  double us = 0;
  std::vector<TermLine> lines;  // those that carry most, longest first; none of launch and tail
  bool operator==(const Term&) const = default;
};

// A term's part of a phase.
struct PhaseTerm {
  TermKind kind = TermKind::other;
  double us = 0;
  bool operator==(const PhaseTerm&) const = default;
};

// A piece of the source: "score", "attention_tiled, loop at line 120", or "launch and tail".
struct Phase {
  std::string name;
  double us = 0;
  std::vector<PhaseTerm> terms;  // longest first; they sum to `us`
  bool operator==(const Phase&) const = default;
};

// How a modelled time splits. Terms and phases each sum to it.
struct Terms {
  std::vector<Term> list;     // longest first, none of zero
  std::vector<Phase> phases;  // longest first
  std::string missing;        // why there are none; else empty
  bool operator==(const Terms&) const = default;
};

}  // namespace attnscope
