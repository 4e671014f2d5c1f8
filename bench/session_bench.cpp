// The wait as a person sees it: from the request to the first counters and to a complete observation, through session,
// supervisor and executor. $ATTNSCOPE names another program whose worker to use.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "session/session.h"

namespace attnscope {
namespace {

const std::filesystem::path kSource = ATTNSCOPE_SOURCE_DIR;

// A new home, so that only what a benchmark made itself is cached.
class FreshHome {
 public:
  FreshHome() {
    std::string name = (std::filesystem::temp_directory_path() / "attnscope-bench-XXXXXX").string();
    path_ = mkdtemp(name.data());
    setenv("ATTNSCOPE_HOME", path_.c_str(), 1);
  }
  ~FreshHome() { std::filesystem::remove_all(path_); }

 private:
  std::filesystem::path path_;
};

std::unique_ptr<session::Session> start() {
  session::SessionOptions options;
  options.kernel_dirs = {kSource / "kernels"};
  options.preset_dirs = {kSource / "presets"};
  options.assets_dir = kSource / "assets";
  const char* program = std::getenv("ATTNSCOPE");
  options.workers = {{"local", {program ? program : ATTNSCOPE_PROGRAM, "worker"}}};
  options.watch_files = false;
  options.first_experiment = false;  // it would run before ours
  auto session = session::Session::start(options, [] {});
  return session ? std::move(*session) : nullptr;
}

void wait_until_ready(session::Session& session) {
  const auto ready = [&] {
    const auto now = session.snapshot();
    return !now->workers.empty() && now->workers[0].state == session::WorkerState::ready;
  };
  while (!ready()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

session::Draft draft_of(int64_t warps) {
  session::Draft draft;
  draft.kernel = "tiled";
  draft.knobs = {{"NUM_WARPS", warps}};
  draft.device = "emulated:l4";
  return draft;
}

// Too large to emulate fully: sampled CTAs, checked on their rows.
session::Draft large_draft() {
  session::Draft draft;
  draft.problem.batch = 4;
  draft.problem.heads = draft.problem.kv_heads = 16;
  draft.problem.seq_q = draft.problem.seq_k = 4096;
  draft.problem.head_dim = 128;
  draft.kernel = "mma";
  draft.knobs = {{"BLOCK_M", 128}, {"BLOCK_N", 64}, {"NUM_WARPS", 4}, {"SPLIT_KEYS", 1}, {"STAGES", 2}, {"Q_REGS", 1}};
  draft.device = "emulated:l4";
  return draft;
}

struct Times {
  double first_counters = -1, complete = -1;  // seconds from the request
  std::string fault;
};

Times time_one(session::Session& session, const session::Draft& draft) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto since = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  Times times;
  const Observation done = session
                               .queue(draft,
                                      [&](const Observation& part) {
                                        if (part.counters && times.first_counters < 0) times.first_counters = since();
                                      })
                               .get();
  times.complete = since();
  if (done.failure)
    times.fault = done.failure->message;
  else if (times.first_counters < 0)
    times.fault = "no counters came";
  return times;
}

enum class Until { counters, complete };

void report(benchmark::State& state, const Times& times, Until until) {
  if (!times.fault.empty()) return state.SkipWithError(times.fault.c_str());
  state.SetIterationTime(until == Until::counters ? times.first_counters : times.complete);
}

// Goal: first counters within 50 ms of a request whose code is compiled.
void cached(benchmark::State& state, Until until) {
  const FreshHome home;
  auto session = start();
  if (!session) return state.SkipWithError("no session");
  time_one(*session, draft_of(4));
  for (auto _ : state) report(state, time_one(*session, draft_of(4)), until);
}

// Goal: first counters within 800 ms when nothing is compiled, decoded or known; the worker is ready.
void cold(benchmark::State& state, Until until) {
  for (auto _ : state) {
    const FreshHome home;
    auto session = start();
    if (!session) return state.SkipWithError("no session");
    wait_until_ready(*session);
    report(state, time_one(*session, draft_of(8)), until);
  }
}

// Goal: counters, verdict and modelled time within 2 s.
void large(benchmark::State& state) {
  const FreshHome home;
  auto session = start();
  if (!session) return state.SkipWithError("no session");
  time_one(*session, large_draft());
  for (auto _ : state) report(state, time_one(*session, large_draft()), Until::complete);
}

BENCHMARK(large)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(1)->Repetitions(3)->ReportAggregatesOnly();
BENCHMARK_CAPTURE(cached, first_counters, Until::counters)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->Repetitions(9)
    ->ReportAggregatesOnly();
BENCHMARK_CAPTURE(cached, complete, Until::complete)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->Repetitions(5)
    ->ReportAggregatesOnly();
BENCHMARK_CAPTURE(cold, first_counters, Until::counters)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->Repetitions(5)
    ->ReportAggregatesOnly();

}  // namespace
}  // namespace attnscope

BENCHMARK_MAIN();
