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
#include "emulator/exec/launch.h"
#include "emulator/exec/memory.h"
#include "emulator/isa/forms.h"
#include "emulator/watch/finding.h"

// Executes a kernel's SASS on the CPU, a warp at a time, and counts what it does (docs/emulator.md).
namespace attnscope::emulator {

// Decodes once for each machine code: later calls with the same code_hash answer from memory (source lines are then
// those of the first). An opcode form outside the tested list is a Failure (Stage::decode) that names it, its offset
// and line.
Result<std::shared_ptr<const Program>> prepare(std::shared_ptr<const compile::SassProgram> sass);

struct Progress {
  const RunCounters& counters;         // so far
  std::span<const uint32_t> new_ctas;  // completed since the last call: x + grid.x·(y + grid.y·z)
  uint32_t wanted_ctas = 0;            // of this run, as far as is decided
};

struct RunOptions : CtaOptions {
  unsigned threads = 0;  // 0: as many as this process may use. They run at nice 19, SCHED_BATCH
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
  // Looks for races, never-written reads, uneven barriers and absent lanes while it runs (RunResult::findings), several
  // times slower. Results and counters are the same.
  bool watch = false;
  std::vector<SharedName> shared_names;  // parts of shared memory, for the findings
};

struct RunResult {
  RunCounters counters;
  std::vector<InstructionCounters> instructions;  // one an instruction of the program
  std::vector<CtaTrace> traces;                   // of RunOptions::trace_ctas, ascending
  std::vector<WatchFinding> findings;             // of RunOptions::watch
  HostIsa isa = HostIsa::baseline;
  double seconds = 0;  // wall time of the run
};

// Runs the grid. Blocks until done, failed or cancelled; output buffers hold what was stored until then. Shared memory
// of every CTA starts zeroed. Runs of one process take turns: they share one thread pool.
Result<RunResult> run(const Launch& launch, const RunOptions& options = {});

// `count` of `total` CTAs, ascending: one of each equal part of the grid, at places that follow no period, since one
// that the grid's width shares would take the same tile of rows every time. count ≤ total.
std::vector<uint32_t> spread_ctas(uint32_t total, uint32_t count);

const compile::SassProgram& sass_of(const Program& program);

}  // namespace attnscope::emulator
