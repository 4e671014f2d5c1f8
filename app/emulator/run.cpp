// One run: chooses its CTAs, reports progress and collects the results.
#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

#include "emulator/emulator.h"
#include "emulator/exec/bind.h"
#include "emulator/exec/pool.h"
#include "emulator/isa/program.h"
#include "emulator/watch/probe.h"
#include "emulator/watch/run_watch.h"
#include "emulator/watch/shared_steps.h"
#include "platform/memory.h"
#include "platform/process.h"

namespace attnscope::emulator {

namespace {

// --- Counters --------------------------------------------------------------------------------------------------------

void add(const Program& program, const std::vector<OpCounts>& ops, const std::vector<BlockCounts>& blocks,
         std::vector<InstructionCounters>& sum) {
  if (ops.empty()) return;
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    for (uint32_t i = program.blocks[b].first; i < program.blocks[b].first + program.blocks[b].count; ++i) {
      const Op& op = program.ops[i];
      const bool guarded = op.pred != kPredicateTrue || op.pred_invert;
      sum[i] += {ops[i], blocks[b].executions, blocks[b].threads, guarded ? ops[i].lanes_on : blocks[b].threads};
    }
  }
}

// --- The CTAs of a grid that is too large to run completely ----------------------------------------------------------

// CTAs along x, where a mask makes them differ; the last one; and the traced ones.
std::vector<uint32_t> first_ctas(const std::array<uint32_t, 3>& grid, const std::vector<uint32_t>& traced) {
  const uint32_t last = grid[0] - 1, total = grid[0] * grid[1] * grid[2];
  std::vector<uint32_t> ctas{0, last / 4, last / 2, last - last / 4, last, total - 1};
  ctas.insert(ctas.end(), traced.begin(), traced.end());
  std::sort(ctas.begin(), ctas.end());
  ctas.erase(std::unique(ctas.begin(), ctas.end()), ctas.end());
  return ctas;
}

// spread_ctas() without the CTAs that already ran.
std::vector<uint32_t> further_ctas(uint32_t total, uint32_t count, const std::vector<uint32_t>& have_run) {
  std::vector<uint32_t> ctas = spread_ctas(total, count);
  std::erase_if(ctas, [&](uint32_t cta) { return std::binary_search(have_run.begin(), have_run.end(), cta); });
  return ctas;
}

uint32_t recorded_cta(const RunOptions& options) {
  return !options.trace_ctas.empty() ? options.trace_ctas.front() : options.ctas.empty() ? 0 : options.ctas.front();
}

constexpr uint32_t kMostReserved = 1 << 16;  // CTAs for which lists reserve memory before the run

// The work in the unit of RunOptions::work_budget.
uint64_t work_of(const Program& program, const std::vector<BlockCounts>& blocks) {
  uint64_t work = 0;
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    const Block& block = program.blocks[b];
    uint64_t tensor = 0;
    for (uint32_t i = block.first; i < block.first + block.count; ++i)
      tensor += program.classes[i] == InstructionClass::tensor;
    work += blocks[b].executions * (block.count + tensor * (RunOptions::kTensorWork - 1));
  }
  return work;
}

Failure failure_of(const Worker& worker, const BoundLaunch& launch, const Launch& asked) {
  if (worker.end == CtaEnd::stopped) return {Stage::cancelled, "The emulated run was cancelled.", ""};
  GlobalMemory::Spot spot;
  if (asked.memory != nullptr) spot = asked.memory->spot_of(worker.runner.machine().fault.address);
  return worker.runner.describe(worker.end, worker.end_cta, launch, spot);
}

// A fault says more than a cancellation, and both say more than the stop that they cause in other threads.
int gravity(CtaEnd end) { return end == CtaEnd::done || end == CtaEnd::stopped ? 0 : end == CtaEnd::cancelled ? 1 : 2; }

// The thread whose CTA says why the run ended early; of equal reasons the first CTA's. Null if none ended early.
const Worker* gravest_end(Pool& pool, size_t threads) {
  const Worker* gravest = nullptr;
  for (size_t i = 0; i < threads; ++i) {
    const Worker& worker = pool.worker(i);
    if (worker.end == CtaEnd::done) continue;
    if (gravest == nullptr || gravity(worker.end) > gravity(gravest->end) ||
        (gravity(worker.end) == gravity(gravest->end) && worker.end_cta < gravest->end_cta))
      gravest = &worker;
  }
  return gravest;
}

// Passes on what all threads' CTAs printed, in the order of the CTAs.
void deliver_printed(Pool& pool, size_t threads, const RunOptions& options) {
  std::vector<PrintedCall> calls;
  uint64_t more = 0;
  for (size_t i = 0; i < threads; ++i) {
    const CtaLog& log = pool.worker(i).runner.log();
    calls.insert(calls.end(), log.calls.begin(), log.calls.end());
    more += log.more;
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const PrintedCall& a, const PrintedCall& b) { return a.cta < b.cta; });
  if (!calls.empty()) options.printed(calls, more);
}

// Collects counters and traces of all threads.
RunResult collect_result(const Program& program, Pool& pool, size_t threads) {
  RunResult result;
  HotPlaces places;
  result.instructions.resize(program.ops.size());
  for (size_t i = 0; i < threads; ++i) {
    const CtaRunner& runner = pool.worker(i).runner;
    add(program, runner.op_counts(), runner.block_counts(), result.instructions);
    result.traces.insert(result.traces.end(), runner.traces().begin(), runner.traces().end());
    result.local_reuses.add(runner.local_reuses().counts);
    result.local_reuses.warps = std::max(result.local_reuses.warps, runner.local_reuses().warps);
    places.add(runner.hot_places());
  }
  result.hottest = places.hottest();
  std::sort(result.traces.begin(), result.traces.end(),
            [](const CtaTrace& a, const CtaTrace& b) { return a.cta < b.cta; });
  result.counters = sum_up(program, result.instructions);
  return result;
}

}  // namespace

std::vector<uint32_t> spread_ctas(uint32_t total, uint32_t count) {
  std::vector<uint32_t> ctas;
  constexpr double kGoldenRatio = 0.6180339887498949;  // its multiples spread evenly modulo 1
  double place = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t begin = i * total / count, end = (i + 1) * total / count;
    ctas.push_back(static_cast<uint32_t>(begin + static_cast<uint64_t>(place * static_cast<double>(end - begin))));
    place += kGoldenRatio;
    if (place >= 1) place -= 1;
  }
  return ctas;
}

Result<RunResult> run(const Launch& launch, const RunOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  if (auto ok = check_launch(launch, options); !ok) return fail(ok.error());
  const HostIsa isa = options.isa.value_or(best_host_isa());
  auto bound = bind_launch(launch, options, isa);
  if (!bound) return fail(bound.error());
  std::optional<RunWatch> watch;
  std::optional<SharedStepLog> steps;
  std::optional<ProbeLog> probes;
  if (options.watch)
    watch.emplace(launch, *bound);
  else if (!options.probes.empty())
    probes.emplace(*bound, recorded_cta(options), options.probes);
  else
    steps.emplace(*bound, recorded_cta(options), options.recorded_turns);
  const Program& program = *launch.program;
  const uint32_t total = launch.grid[0] * launch.grid[1] * launch.grid[2];
  const uint32_t asked = options.ctas.empty() ? total : static_cast<uint32_t>(options.ctas.size());
  if (launch.cooperative && asked < total)
    return fail(Stage::internal,
                fmt::format("{}: {} of {} CTAs of a cooperative launch were asked for; they wait for the others.",
                            program.sass->kernel.name, asked, total),
                "Run them all.");
  const unsigned cores = launch.cooperative     ? 1
                         : options.threads != 0 ? options.threads
                                                : std::max(1u, std::thread::hardware_concurrency());
  Pool& pool = Pool::instance();
  std::lock_guard turn(pool.turn());
  const size_t threads = pool.grow(std::clamp<size_t>(cores, 1, asked));
  if (threads == 0) return fail(platform::no_thread("the emulated run of " + program.sass->kernel.name));

  const uint64_t local = uint64_t{bound->local_bytes} * 32 * bound->warps * threads;
  const uint64_t watched = watch ? watch->bytes_of_one() : 0;
  const uint64_t bytes = launch.cooperative ? (CtaRunner::bytes_of_cta(*bound) + watched) * total : local;
  const char* const what = launch.cooperative ? ": its CTAs, which exist at once" : ": the local memory of its threads";
  if (auto held = platform::hold_memory(bytes, program.sass->kernel.name + what); !held) return fail(held.error());

  for (size_t i = 0; i < threads; ++i) {
    Worker& worker = pool.worker(i);
    worker.runner.prepare(*bound);
    worker.published_ops.assign(program.ops.size(), {});
    worker.published_blocks.assign(program.blocks.size(), {});
    worker.completed.clear();
    worker.completed.reserve(std::min(asked, kMostReserved));
    worker.ctas = 0;
    worker.end = CtaEnd::done;
    worker.wanted = static_cast<bool>(options.progress);
  }
  std::vector<InstructionCounters> sum(program.ops.size());
  std::vector<uint32_t> news;
  news.reserve(std::min(asked, kMostReserved));

  uint32_t planned = asked;
  const auto interval = std::chrono::milliseconds(std::max(1u, options.progress_interval_ms));
  auto last_report = std::chrono::steady_clock::time_point{};
  const auto report = [&] {
    std::fill(sum.begin(), sum.end(), InstructionCounters{});
    news.clear();
    uint64_t ctas = 0;
    for (size_t i = 0; i < threads; ++i) {
      Worker& worker = pool.worker(i);
      std::lock_guard lock(worker.mutex);
      add(program, worker.published_ops, worker.published_blocks, sum);
      news.insert(news.end(), worker.completed.begin(), worker.completed.end());
      worker.completed.clear();
      ctas += worker.ctas;
    }
    if (news.empty()) return;
    RunCounters counters = sum_up(program, sum);
    counters.ctas = ctas;
    counters.total_ctas = total;
    last_report = std::chrono::steady_clock::now();
    options.progress({counters, news, planned});
    for (size_t i = 0; i < threads; ++i) pool.worker(i).wanted.store(true, std::memory_order_relaxed);
  };
  // Runs those CTAs, or the whole grid in ascending order. Returns false if the run ended early.
  const auto execute = [&](const std::vector<uint32_t>* ctas) {
    Job job;
    job.launch = &*bound;
    job.order = ctas;  // a cooperative launch runs in its own order
    job.count = ctas == nullptr ? total : static_cast<uint32_t>(ctas->size());
    pool.start(job, threads);
    Finished finished(pool, job);
    while (!pool.wait(std::max(std::chrono::steady_clock::now(), last_report) + interval)) {
      if (options.progress && std::chrono::steady_clock::now() - last_report >= interval) report();
    }
    finished.over = true;
    return !job.stop.load();
  };
  if (launch.cooperative || options.work_budget == 0 || !options.ctas.empty() || total <= RunOptions::kFewestSampled) {
    execute(options.ctas.empty() ? nullptr : &options.ctas);
  } else {
    std::vector<uint32_t> ctas = first_ctas(launch.grid, options.trace_ctas);
    if (execute(&ctas)) {
      uint64_t work = 0;
      for (size_t i = 0; i < threads; ++i) work += work_of(program, pool.worker(i).runner.block_counts());
      const uint64_t one = std::max<uint64_t>(1, work / ctas.size());
      planned = static_cast<uint32_t>(std::clamp<uint64_t>(options.work_budget / one, RunOptions::kFewestSampled,
                                                           std::min<uint64_t>(total, RunOptions::kMostSampled)));
      const std::vector<uint32_t> others = further_ctas(total, planned, ctas);
      planned = static_cast<uint32_t>(ctas.size() + others.size());
      if (!others.empty()) execute(&others);
    }
  }

  if (options.printed) deliver_printed(pool, threads, options);
  if (const Worker* ended = gravest_end(pool, threads)) return fail(failure_of(*ended, *bound, launch));

  RunResult result = collect_result(program, pool, threads);
  result.isa = isa;
  if (steps) result.shared_steps = steps->steps();
  if (probes) result.probed = std::move(*probes).hits();
  if (watch.has_value()) {
    result.findings = watch->findings(options.shared_names);
    result.suspected = watch->findings(options.shared_names, true);
    if (planned == total) result.unwritten = watch->unwritten();
  }
  result.counters.ctas = planned;
  result.counters.total_ctas = total;
  if (options.progress) {
    news.clear();
    for (size_t i = 0; i < threads; ++i) {
      Worker& worker = pool.worker(i);
      news.insert(news.end(), worker.completed.begin(), worker.completed.end());
    }
    if (!news.empty()) options.progress({result.counters, news, planned});
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace attnscope::emulator
