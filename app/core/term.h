#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/words.h"

namespace attnscope {

// Where a clock of a modelled time goes. A wait that the machine code states is charged to what is waited for: "global
// memory latency" is the time that warps wait for data in flight, "L2 bandwidth" the time that requests queue before
// that.
enum class TermKind {
  launch,  // an empty kernel's time, and the start of CTAs
  tail,    // SM places that stay empty at the end, because no CTA is left
  issue,   // a scheduler issues an instruction
  // Waits for a pipe that another instruction uses:
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
  register_banks,  // a scheduler's banks that another instruction still reads
  // Waits for a queue to drain:
  shared_wavefronts,  // the wavefronts that the accesses need
  bank_conflicts,     // the wavefronts beyond those
  l1_lines,           // the 128-byte lines of global and local requests, which take the same path
  l2_bandwidth,
  dram_bandwidth,  // for a problem larger than the L2
  atomics,         // that meet in one sector of global memory, or in one bank of shared memory
  // Waits for a result:
  instruction_latency,  // stall counts in the code
  tensor_latency,       // stall counts after a Tensor Core product
  mufu_latency,         // MUFU and conversions
  shuffle_latency,
  constant_latency,
  shared_latency,
  global_latency,
  local_latency,
  jumps,
  instruction_fetch,  // from outside the SM's nearest instruction cache
  barriers,
  other
};
template <>
struct Words<TermKind> {
  using enum TermKind;
  static constexpr WordTable<TermKind, 33> table{{{launch, "launch"},
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
                                                  {atomics, "atomics"},
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

// An instruction and the part of a term that it carries: the instruction waited for, or the one that issues. `address`
// is in bytes from the kernel's first instruction; `source` is "02_tiled.cu:174", or empty if no line is known.
struct TermLine {
  int64_t address = 0;
  std::string source;
  double us = 0;
  int64_t waiting_address = 0;  // the instruction that waits for it longest; its own address if it issues
  std::string waiting_source;
  std::optional<int64_t> launch = {};  // for a program: index of the launch that the instruction belongs to
  bool operator==(const TermLine&) const = default;
};

struct Term {
  static constexpr size_t kMostLines = 5;
  TermKind kind = TermKind::other;
  double us = 0;
  std::vector<TermLine> lines;  // the instructions that carry most, longest first; launch and tail have none
  bool operator==(const Term&) const = default;
};

// A term's share of a phase.
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

// How a modelled time is divided. The terms sum to it, and so do the phases.
struct Terms {
  std::vector<Term> list;     // longest first, without zeros
  std::vector<Phase> phases;  // longest first
  std::string missing;        // why there are no terms; empty otherwise
  bool operator==(const Terms&) const = default;
};

}  // namespace attnscope
