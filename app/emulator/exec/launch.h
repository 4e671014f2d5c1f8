#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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
  std::vector<std::byte> parameters;  // the parameter block as the driver lays it out (KernelParameter offsets)
  const GlobalMemory* memory = nullptr;
};

// Which CTAs of a launch run, and what decides how each goes.
struct CtaOptions {
  // Warp instructions that one warp may issue; a kernel that passes it is held to loop for ever (Stage::deadline).
  uint64_t step_budget = 400'000'000;
  const std::atomic<bool>* cancel = nullptr;  // honoured within some milliseconds: Stage::cancelled
  // The CTAs to run, in this order; empty: all, in ascending order. Fewer than all gives sampled counters.
  std::vector<uint32_t> ctas;
  std::optional<HostIsa> isa;  // empty: the best of this CPU
  // CTAs of the run whose warps' paths through the code are kept in RunResult::traces.
  std::vector<uint32_t> trace_ctas;
  // Shared memory starts as this word everywhere, or as words that a seed decides (0: none does), and warps take turns
  // in an order that a seed decides (0: the ordinary one): a kernel without a race does not depend on any of it.
  uint32_t shared_fill = 0;
  uint64_t random_fill = 0;
  uint64_t order_seed = 0;
};

// A call of printf, or an assertion that failed.
struct PrintedCall {
  uint32_t cta = 0;
  std::string text;
};

// The blocks (Program::blocks) that each warp of a CTA executed, in its own order. Kept whole or not at all: a warp
// that executes more than kMostTraced blocks leaves the CTA without a trace.
struct CtaTrace {
  // A block and how many lanes were active, 1 to 32.
  static constexpr uint32_t kBlockBits = 27;
  static constexpr uint32_t entry(uint32_t block, uint32_t lanes) { return block | (lanes - 1) << kBlockBits; }
  static constexpr uint32_t block_of(uint32_t entry) { return entry & ((1u << kBlockBits) - 1); }
  static constexpr uint32_t lanes_of(uint32_t entry) { return (entry >> kBlockBits) + 1; }

  static constexpr uint32_t kMostTraced = 1u << 17;
  uint32_t cta = 0;
  std::vector<std::vector<uint32_t>> warps;  // entries
};

// What run() asks of a launch first. Failures: Stage::launch (what no device would launch), Stage::limits (what the
// emulator does not).
Result<void> check_launch(const Launch& launch, const CtaOptions& options);

}  // namespace attnscope::emulator
