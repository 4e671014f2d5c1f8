#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/folded.h"
#include "core/result.h"
#include "emulator/exec/handlers.h"
#include "emulator/exec/memory.h"

namespace attnscope::emulator {

struct Program;  // isa/program.h

struct Launch {
  std::shared_ptr<const Program> program;
  std::array<uint32_t, 3> grid{1, 1, 1};
  std::array<uint32_t, 3> block{1, 1, 1};
  uint32_t dynamic_shared_bytes = 0;
  // As by cuLaunchCooperativeKernel: all CTAs exist at once, and grid.sync() of cooperative groups works. The caller
  // checks that a device holds them all.
  bool cooperative = false;
  std::vector<std::byte> parameters;  // the parameter block as the driver lays it out (KernelParameter offsets)
  const GlobalMemory* memory = nullptr;
};

// Which CTAs of a launch run, and how.
struct CtaOptions {
  // Warp instructions that one warp may issue. A kernel that exceeds this counts as an endless loop (Stage::deadline).
  uint64_t step_budget = 400'000'000;
  const std::atomic<bool>* cancel = nullptr;  // takes effect within a few milliseconds: Stage::cancelled
  // The CTAs to run, in this order; empty: all, in ascending order. With fewer than all, the counters are sampled.
  std::vector<uint32_t> ctas;
  std::optional<HostIsa> isa;  // empty: the best that this CPU has
  // CTAs of the run whose warps' paths through the code are recorded in RunResult::traces.
  std::vector<uint32_t> trace_ctas;
  // Shared memory starts filled with this word, or with words from a seed (0: no seed), and warps take turns in an
  // order from a seed (0: the usual order). A kernel without a race depends on none of these.
  uint32_t shared_fill = 0;
  uint64_t random_fill = 0;
  uint64_t order_seed = 0;
  // Barriers (indices of BAR.SYNC instructions) that warps pass without waiting for each other. At those of the first
  // list, the lanes of a warp still wait for each other, as at WARPSYNC.
  std::vector<uint32_t> open_for_warps, open_for_lanes;
};

// A call of printf, or a failed assertion.
struct PrintedCall {
  uint32_t cta = 0;
  std::string text;
};

// The blocks (Program::blocks) that each warp of a CTA executed, in order, with loops folded. A CTA is recorded
// completely or not at all: a long path that repeats too little leaves it without a trace.
struct CtaTrace {
  // A block and its number of active lanes, 1 to 32.
  static constexpr uint32_t kBlockBits = 27;
  static constexpr uint32_t entry(uint32_t block, uint32_t lanes) { return block | (lanes - 1) << kBlockBits; }
  static constexpr uint32_t block_of(uint32_t entry) { return entry & ((1u << kBlockBits) - 1); }
  static constexpr uint32_t lanes_of(uint32_t entry) { return (entry >> kBlockBits) + 1; }

  uint32_t cta = 0;
  std::vector<Folded> warps;  // of entries
};

// run()'s first check of a launch. Failures: Stage::launch (no device would launch it), Stage::limits (the emulator
// does not support it).
Result<void> check_launch(const Launch& launch, const CtaOptions& options);

}  // namespace attnscope::emulator
