#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compile/sass.h"
#include "core/result.h"
#include "emulator/exec/counters.h"
#include "emulator/exec/handlers.h"
#include "emulator/exec/memory.h"
#include "emulator/isa/forms.h"
#include "emulator/watch/finding.h"

// Executes a kernel's SASS on the CPU, a warp at a time, and counts what it does (docs/emulator.md).
namespace attnscope::emulator {

struct Program;  // decoded: program.h

// Decodes once for each machine code: later calls with the same code_hash answer from memory (source lines are then
// those of the first). An opcode form outside the tested list is a Failure (Stage::decode) that names it, its offset
// and line.
Result<std::shared_ptr<const Program>> prepare(std::shared_ptr<const compile::SassProgram> sass);

struct Launch {
  std::shared_ptr<const Program> program;
  std::array<uint32_t, 3> grid{1, 1, 1};
  std::array<uint32_t, 3> block{1, 1, 1};
  uint32_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters;  // the parameter block as the driver lays it out (KernelParameter offsets)
  const GlobalMemory* memory = nullptr;
};

struct Progress {
  const RunCounters& counters;         // so far
  std::span<const uint32_t> new_ctas;  // completed since the last call: x + grid.x·(y + grid.y·z)
  uint32_t wanted_ctas = 0;            // of this run, as far as is decided
};

// A call of printf, or an assertion that failed.
struct PrintedCall {
  uint32_t cta = 0;
  std::string text;
};

struct RunOptions {
  unsigned threads = 0;  // 0: as many as this process may use. They run at nice 19, SCHED_BATCH
  // Warp instructions that one warp may issue; a kernel that passes it is held to loop for ever (Stage::deadline).
  uint64_t step_budget = 400'000'000;
  const std::atomic<bool>* cancel = nullptr;  // honoured within some milliseconds: Stage::cancelled
  // The CTAs to run, in this order; empty: all, in ascending order. Fewer than all gives sampled counters.
  std::vector<uint32_t> ctas;
  // Instead of `ctas`: a grid whose work would pass this is sampled, evenly, from what its first CTAs took (0: never).
  // In warp instructions, a Tensor Core's counting kTensorWork: about what they cost here. The same CTAs on every
  // machine of up to kFewestSampled threads.
  uint64_t work_budget = 0;
  static constexpr uint64_t kTensorWork = 40;
  static constexpr uint32_t kFewestSampled = 16;
  static constexpr uint32_t kMostSampled = 1 << 22;  // CTAs that do next to nothing still take their time and place
  // Called on the calling thread, at most once in `progress_interval_ms`, and first as soon as a CTA is complete.
  std::function<void(const Progress&)> progress;
  unsigned progress_interval_ms = 15;
  // Called once before run() returns, however it ends, if the kernel printed: the calls by CTA, those of a CTA in the
  // order of its warps, and how many more there were.
  std::function<void(const std::vector<PrintedCall>& calls, uint64_t more)> printed;
  std::optional<HostIsa> isa;  // empty: the best of this CPU
  // CTAs of the run whose warps' paths through the code are kept in RunResult::traces.
  std::vector<uint32_t> trace_ctas;
  // Looks for races, never-written reads, uneven barriers and absent lanes while it runs (RunResult::findings), several
  // times slower. Results and counters are the same.
  bool watch = false;
  std::vector<SharedName> shared_names;  // parts of shared memory, for the findings
  // Shared memory starts as this word everywhere, or as words that a seed decides (0: none does), and warps take turns
  // in an order that a seed decides (0: the ordinary one): a kernel without a race does not depend on any of it.
  uint32_t shared_fill = 0;
  uint64_t random_fill = 0;
  uint64_t order_seed = 0;
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

struct RunResult {
  RunCounters counters;
  std::vector<InstructionCounters> instructions;  // one an instruction of the program
  std::vector<CtaTrace> traces;                   // of RunOptions::trace_ctas, ascending
  std::vector<WatchFinding> findings;             // of RunOptions::watch
  HostIsa isa = HostIsa::baseline;
  double seconds = 0;  // wall time of the run
};

// What run() asks of a launch first. Failures: Stage::launch (what no device would launch), Stage::limits (what the
// emulator does not).
Result<void> check_launch(const Launch& launch, const RunOptions& options);

// Runs the grid. Blocks until done, failed or cancelled; output buffers hold what was stored until then. Shared memory
// of every CTA starts zeroed. Runs of one process take turns: they share one thread pool.
Result<RunResult> run(const Launch& launch, const RunOptions& options = {});

// `count` of `total` CTAs, ascending: one of each equal part of the grid, at places that follow no period, since one
// that the grid's width shares would take the same tile of rows every time. count ≤ total.
std::vector<uint32_t> spread_ctas(uint32_t total, uint32_t count);

const compile::SassProgram& sass_of(const Program& program);

}  // namespace attnscope::emulator
