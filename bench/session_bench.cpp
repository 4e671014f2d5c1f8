// The wait as a person sees it: from the request to the first counters and to a complete observation, through session,
// supervisor and executor. $ATTNSCOPE names another program whose worker to use.
#include <benchmark/benchmark.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>

#include "session/session.h"

namespace attnscope {
namespace {

const std::filesystem::path kSource = ATTNSCOPE_SOURCE_DIR;

// A new home, so the cache holds only what the benchmark itself made.
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

Draft draft_of(int64_t warps) {
  Draft draft;
  draft.kernel = "tiled";
  draft.config.knobs = {{"NUM_WARPS", warps}};
  draft.device = "emulated:l4";
  return draft;
}

// Too large to emulate fully: sampled CTAs, checked on their rows.
Draft large_draft() {
  Draft draft;
  draft.problem.batch = 4;
  draft.problem.heads = draft.problem.kv_heads = 16;
  draft.problem.seq_q = draft.problem.seq_k = 4096;
  draft.problem.head_dim = 128;
  draft.kernel = "mma";
  draft.config.knobs = {{"BLOCK_M", 128},  {"BLOCK_N", 64}, {"NUM_WARPS", 4},
                        {"SPLIT_KEYS", 1}, {"STAGES", 2},   {"Q_REGS", 1}};
  draft.device = "emulated:l4";
  return draft;
}

struct Times {
  double first_counters = -1, complete = -1;  // seconds from the request
  std::string fault;
};

// Waits as the window does. `again`: the draft is the one that ran last.
Times time_one(session::Session& session, const Draft& draft, bool again = false) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto since = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  again ? session.rerun() : session.focus(draft, {1, true, "bench"});
  Times times;
  for (bool ran = false;;) {
    const session::Focus focus = session.snapshot()->focus;
    const auto counters = focus.parts[static_cast<int>(session::Part::counters)];
    if (focus.running && (counters == session::PartState::partial || counters == session::PartState::fresh) &&
        times.first_counters < 0)
      times.first_counters = since();
    ran |= focus.running;
    if (focus.failure) times.fault = focus.failure->message;
    if ((ran && !focus.running) || focus.failure) break;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  times.complete = since();
  if (times.fault.empty() && times.first_counters < 0) times.fault = "no counters came";
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
  for (auto _ : state) report(state, time_one(*session, draft_of(4), true), until);
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
  for (auto _ : state) report(state, time_one(*session, large_draft(), true), Until::complete);
}

// Eight configs of the default problem with different machine code.
session::ScanRequest eight_values() {
  session::ScanRequest request;
  request.id = 1;
  request.draft = draft_of(4);
  for (const int64_t warps : {1, 2, 4, 8})
    for (const int64_t width : {2, 4})
      request.configs.push_back({{{"BLOCK_M", 32},
                                  {"BLOCK_N", 64},
                                  {"NUM_WARPS", warps},
                                  {"VEC_WIDTH", width},
                                  {"SYNC_POLICY", 5},
                                  {"SWIZZLE_XOR", 0},
                                  {"REDUCE_WARP", 1},
                                  {"SHARED", 0},
                                  {"SO_TYPE", 0}},
                                 {}});
  return request;
}

// Processor time in seconds of this process, its descendants, and the processes that they have waited for.
double processor_seconds() {
  struct Process {
    int parent = 0;
    double seconds = 0;
  };
  std::map<int, Process> all;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", none)) {
    std::string text, word;
    std::getline(std::ifstream(entry.path() / "stat"), text);
    std::istringstream words(text.substr(std::min(text.size(), text.rfind(')') + 2)));  // a name may contain anything
    const int id = std::atoi(entry.path().filename().c_str());
    Process one;
    if (id == 0 || !(words >> word >> one.parent)) continue;
    for (int field = 5; field < 14; ++field) words >> word;
    for (int field = 14; field < 18; ++field) {  // utime, stime, cutime, cstime
      double ticks = 0;
      words >> ticks;
      one.seconds += ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
    }
    all[id] = one;
  }
  double sum = 0;
  for (const auto& [id, one] : all) {
    int above = id;
    while (above > 1 && above != getpid()) above = all[above].parent;
    if (above == getpid()) sum += one.seconds;
  }
  return sum;
}

// Runs until the last value has its time; returns an error if a value has none. The counter cpu_s has the processor
// seconds of all processes: other work on the machine changes it less than the wall time.
void scan_once(benchmark::State& state, session::Session& session) {
  const double spent = processor_seconds();
  const auto begin = std::chrono::steady_clock::now();
  session.scan(eight_values());
  for (;;) {
    const auto now = session.snapshot();
    if (!now->scans.empty() && now->scans.front()->over()) {
      const Scan& scan = *now->scans.front();
      if (scan.failure) return state.SkipWithError(scan.failure->message.c_str());
      for (size_t at = 0; at < scan.points.size(); ++at)
        if (scan.timed(at) == nullptr) return state.SkipWithError("a value has no time");
      state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      state.counters["cpu_s"] = processor_seconds() - spent;
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Goal: within 2 s on two cores. `compiled`: each was compiled and decoded before, by another session.
void scan(benchmark::State& state, bool compiled) {
  for (auto _ : state) {
    const FreshHome home;
    for (int times = compiled ? 2 : 1; times > 0; --times) {
      auto session = start();
      if (!session) return state.SkipWithError("no session");
      wait_until_ready(*session);
      scan_once(state, *session);
    }
  }
}

BENCHMARK_CAPTURE(scan, eight_values_compiled, true)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->Repetitions(3)
    ->ReportAggregatesOnly();
BENCHMARK_CAPTURE(scan, eight_values_cold, false)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->Repetitions(3)
    ->ReportAggregatesOnly();
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
