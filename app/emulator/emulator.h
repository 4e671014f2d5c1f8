#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compile/sass.h"
#include "core/result.h"
#include "core/shared_access.h"
#include "emulator/exec/counters.h"
#include "emulator/exec/hot_places.h"
#include "emulator/exec/launch.h"
#include "emulator/exec/local_reuse.h"
#include "emulator/exec/memory.h"
#include "emulator/exec/probe.h"
#include "emulator/isa/forms.h"
#include "emulator/watch/finding.h"

// Executes a kernel's SASS on the CPU, one warp at a time, and counts what it does (docs/emulator.md).
namespace attnscope::emulator {

// Decodes each machine code once: later calls with the same code_hash get the decoded program from memory (with the
// source lines of the first call). An opcode form outside the tested list is a Failure (Stage::decode) that names it,
// its offset and line.
Result<std::shared_ptr<const Program>> prepare(std::shared_ptr<const compile::SassProgram> sass);

struct Progress {
  const RunCounters& counters;         // so far
  std::span<const uint32_t> new_ctas;  // CTAs that ended since the last call: x + grid.x·(y + grid.y·z)
  uint32_t wanted_ctas = 0;            // CTAs to run, as far as decided
};

struct RunOptions : CtaOptions {
  unsigned threads = 0;  // 0: as many as this process may use. They run at nice 19, SCHED_BATCH
  // Used if `ctas` is empty: a grid with more work than this is sampled evenly, based on the work of its first CTAs (0:
  // never). The unit is warp instructions; a Tensor Core instruction counts as kTensorWork, about its cost here. Every
  // machine with up to kFewestSampled threads runs the same CTAs.
  uint64_t work_budget = 0;
  static constexpr uint64_t kTensorWork = 40;
  static constexpr uint32_t kFewestSampled = 16;
  static constexpr uint32_t kMostSampled = 1 << 22;  // even CTAs with almost no work take time and memory
  // Called on the calling thread, at most once per `progress_interval_ms`, and for the first time as soon as a CTA has
  // ended.
  std::function<void(const Progress&)> progress;
  unsigned progress_interval_ms = 15;
  // Called once before run() returns, however the run ends, if the kernel printed. `calls` is ordered by CTA, and
  // within a CTA by warp; `more` is the number of further calls.
  std::function<void(const std::vector<PrintedCall>& calls, uint64_t more)> printed;
  // Looks for races, reads of memory never written, uneven barriers and absent lanes during the run
  // (RunResult::findings), which makes it several times slower. Results and counters are the same.
  bool watch = false;
  uint32_t recorded_turns = 16;           // executions of each warp in RunResult::shared_steps
  std::vector<Probe> probes;              // read in the first of `ctas`, see RunResult::probed; not with `watch`
  std::vector<SharedPlace> shared_names;  // names of parts of shared memory, for the findings
};

struct RunResult {
  RunCounters counters;
  std::vector<InstructionCounters> instructions;  // one per instruction of the program
  std::vector<CtaTrace> traces;                   // of RunOptions::trace_ctas, ascending
  LocalReuses local_reuses;                       // of the same CTAs
  HotSpots hottest;                               // where atomics of all CTAs that ran go most
  // Where one CTA (the first traced one, otherwise the first that ran) accessed shared memory, by instruction. Empty
  // for a watched run and one with probes.
  std::map<uint32_t, SharedSteps> shared_steps;
  ProbeHits probed;
  std::vector<WatchFinding> findings;  // of RunOptions::watch
  // Findings about reads whose value the program may not use: later parts of vectors.
  std::vector<WatchFinding> suspected;
  std::vector<UnwrittenBuffer> unwritten;  // if a watch covered every CTA
  HostIsa isa = HostIsa::baseline;
  double seconds = 0;  // wall time of the run
};

// Runs the grid. Blocks until done, failed or cancelled; output buffers then hold what was stored so far. Every CTA's
// shared memory starts zeroed. Runs in one process take turns because they share one thread pool.
Result<RunResult> run(const Launch& launch, const RunOptions& options = {});

// `count` of `total` CTAs, ascending: one from each equal part of the grid, at aperiodic places, because a period that
// divides the grid's width would always pick the same tile of rows. count must not exceed total.
std::vector<uint32_t> spread_ctas(uint32_t total, uint32_t count);

const compile::SassProgram& sass_of(const Program& program);

}  // namespace attnscope::emulator
