// The states of runs, and those of the frame around the panels.
#include <algorithm>

#include "ui/states.h"
#include "ui/states_made.h"

namespace attnscope::ui {
namespace {

using session::Part;
using session::PartState;
using session::Snapshot;

// `change` of the shown run.
Snapshot changed(Snapshot snapshot, const std::function<void(Observation&)>& change) {
  revise_runs(snapshot, [&](uint64_t run, Observation& seen) {
    if (run == snapshot.history.size) change(seen);
    seen.hash = hash_of(seen.experiment);
  });
  follow(snapshot);
  return snapshot;
}

// `change` of both runs.
Snapshot both_changed(Snapshot snapshot, const std::function<void(uint64_t run, Observation&)>& change) {
  revise_runs(snapshot, [&](uint64_t run, Observation& seen) {
    change(run, seen);
    seen.hash = hash_of(seen.experiment);
  });
  follow(snapshot);
  return snapshot;
}

// The wanted experiment failed in `stage`; the parts from `failed` on are of the run before.
Snapshot failed(Stage stage, Part first, const char* hint = "Do it otherwise.") {
  Snapshot snapshot = two_runs();
  session::Focus& focus = snapshot.focus;
  focus.failure = Failure{stage, "It failed for a reason.", hint};
  for (int part = int(first); part < session::kParts; ++part) {
    focus.parts[part] = PartState::failed;
    focus.part_from[part] = "NUM_WARPS=4";
  }
  return snapshot;
}

Snapshot wanting(const std::map<std::string, int64_t>& knobs) {
  Snapshot snapshot = two_runs();
  for (const auto& [name, value] : knobs) snapshot.focus.wanted.config.knobs[name] = value;
  snapshot.focus.wanted_hash = hash_of(snapshot.focus.wanted);
  keep_parts(snapshot, "BLOCK_M=32");
  return snapshot;
}

Snapshot watched(session::WatchState state, double progress = 0) {
  Snapshot snapshot = two_runs();
  snapshot.focus.watch = state;
  snapshot.focus.watch_progress = progress;
  if (state == session::WatchState::failed)
    snapshot.focus.watch_failure = Failure{Stage::deadline, "It took too long.", "Watch a smaller problem."};
  return snapshot;
}

Snapshot of_problem(const std::function<void(Problem&)>& change, bool of_a_too = true) {
  return both_changed(two_runs(), [&](uint64_t run, Observation& seen) {
    if (run == 2 || of_a_too) change(seen.experiment.problem);
  });
}

Snapshot measured(CacheState cache, Stopped stopped, bool of_a_too) {
  Snapshot snapshot = on_a_gpu(two_runs());
  return both_changed(std::move(snapshot), [&](uint64_t run, Observation& seen) {
    seen.experiment.device = seen.device = "cuda:0";
    if (run == 2 || of_a_too) measure(seen, cache, stopped);
  });
}

// A scan of a knob with a value of each kind: the fastest, a tie, a wrong one, a refused one, a failed one, one that is
// another one's, and one that waits unless all are done.
Snapshot scanned(bool over, bool tie = false) {
  Snapshot snapshot = two_runs();
  const auto fast = snapshot.history.at(1).observation, slow = snapshot.history.at(0).observation;
  Scan scan{7, snapshot.focus.wanted, {}, {}};
  for (const int64_t value : {1, 2, 4, 6, 8}) {
    ScanPoint point{"NUM_WARPS", {value, ""}, value == 8, scan.held.config, {}, {}, nullptr, {}};
    point.config.knobs["NUM_WARPS"] = value;
    scan.points.push_back(std::move(point));
  }
  const auto with = [](const session::Shared<Observation>& run, const std::function<void(Observation&)>& change) {
    auto made = std::make_shared<Observation>(*run);
    change(*made);
    return made;
  };
  scan.points[0].observation = with(fast, [](Observation& run) {
    run.timing.reset();
    run.failure = Failure{Stage::launch, "It read outside q.", "Use a larger tile."};
  });
  scan.points[1].observation = with(slow, [](Observation& run) {
    run.verdict->state = VerdictState::wrong;
    run.verdict->reason = "3 elements differ.";
  });
  scan.points[2].observation = slow;
  scan.points[2].warnings = {"One warp idles."};
  scan.points[3].refused = Failure{Stage::limits, "NUM_WARPS=6: too much", "Set SHARED to dynamic."};
  if (over) scan.points[4].observation = tie ? slow : fast;
  if (over && tie) scan.points[0] = scan.points[2], scan.points[0].same_as = 2, scan.points[0].value = {1, ""};
  snapshot.scans = {session::share(std::move(scan))};
  return snapshot;
}

Snapshot noted(const std::string& text, bool star) {
  Snapshot snapshot = snapshot_after({"minimal", "m32_w4", "m64_w4", "m32_w8"});
  session::RunNotes notes;
  notes[snapshot.history.at(1).observation->hash] = {star, text};
  snapshot.notes = session::share(std::move(notes));
  return snapshot;
}

void pin_first(Workbench& bench, const Snapshot& snapshot) {
  const session::HistoryEntry& first = snapshot.history.at(0);
  bench.settings().pinned = PinnedRun{first.observation->hash, first.finished_at};
}

void run_action(Workbench& bench, const char* id) { bench.actions().find(id)->run(); }

}  // namespace

std::vector<State> states_of_runs() {
  using session::WatchState;
  std::vector<State> all;
  const auto add = [&](const char* name, Snapshot snapshot, std::function<void(Workbench&)> set = {}) {
    all.push_back({name, std::move(snapshot), std::move(set)});
  };
  const auto of_last = [&](const char* name, const std::function<void(Observation&)>& change) {
    add(name, changed(two_runs(), change));
  };
  add("two runs", two_runs());
  Snapshot nothing;
  nothing.version = 1;
  add("nothing yet", nothing);
  add("no run", without_runs());
  add("the first run compiles", running(without_runs(), "compiling", 0.2, Part::variant));
  add("the first run emulates", running(without_runs(), "emulating", 0.6, Part::counters));
  add("compiling", running(two_runs(), "compiling", 0.2, Part::variant));
  add("emulating", running(two_runs(), "emulating", 0.4, Part::counters));
  add("checking", running(two_runs(), "checking", 0.8, Part::verdict));
  add("timing", running(two_runs(), "timing", 1.5, Part::timing));
  add("does not compile", failed(Stage::compile, Part::variant));
  add("does not fit", failed(Stage::limits, Part::variant, ""));
  add("fails while running", failed(Stage::launch, Part::counters));
  add("cannot be checked", failed(Stage::check, Part::verdict));
  add("the worker is gone", failed(Stage::crash, Part::timing));
  add("no device", failed(Stage::device, Part::variant));
  add("invalid", failed(Stage::input, Part::variant));
  add("a bug", failed(Stage::internal, Part::timing));
  add("refused", snapshot_of_a_refusal());
  add("illegal", wanting({{"BLOCK_M", 64}}));
  add("illegal with a way out", wanting({{"BLOCK_M", 64}, {"BLOCK_N", 64}, {"NUM_WARPS", 1}}));
  add("illegal and failed", [] {
    Snapshot snapshot = wanting({{"BLOCK_M", 64}});
    snapshot.focus.failure = Failure{Stage::limits, "It does not fit.", "Set SHARED to dynamic."};
    return snapshot;
  }());
  of_last("wrong", [](Observation& seen) {
    Verdict& verdict = *seen.verdict;
    verdict.state = VerdictState::wrong;
    verdict.reason = "12 elements are not finite.";
    verdict.nonfinite = 12;
    verdict.outside_share = 0.25;
    verdict.max_abs = 3.5;
    verdict.mean_abs = 0.1;
    verdict.rel_frobenius = 0.5;
    verdict.cosine = 0.8;
    verdict.first_bad = BadElement{0, 1, 2, 3, 0.5, -0.25};
  });
  of_last("unchecked", [](Observation& seen) {
    seen.verdict = Verdict{};
    seen.verdict->reason = "The kernel names no reference.";
  });
  of_last("checked against a kernel", [](Observation& seen) { seen.verdict->against = "minimal"; });
  of_last("some rows checked", [](Observation& seen) { seen.verdict->rows_checked = 100; });
  add("a watch waits", watched(WatchState::waiting));
  add("a watch runs", watched(WatchState::running, 0.3));
  add("a watch failed", watched(WatchState::failed));
  of_last("a watch found nothing", [](Observation& seen) { seen.watch = report({}); });
  of_last("a watch found a race", [](Observation& seen) { seen.watch = report({race("3")}); });
  add("watched beside A", both_changed(two_runs(), [](uint64_t run, Observation& seen) {
        std::vector<Finding> found{race("3"),
                                   finding(RuleId::barrier_uneven, Severity::error, "Not every warp arrives."),
                                   finding(RuleId::luck_order, Severity::warning, "Another order changes the output."),
                                   finding(RuleId::shuffle_absent, Severity::error, "Lane 7 is absent.")};
        if (run == 1)
          found = {race("3"), finding(RuleId::never_written_shared, Severity::error, "It was never written.")};
        seen.watch = report(std::move(found));
      }));
  add("a watch found nothing, of A it did", both_changed(two_runs(), [](uint64_t run, Observation& seen) {
        seen.watch = report({});
        if (run == 1)
          seen.watch = report({race("3"), finding(RuleId::luck_fill, Severity::error, "Other contents change it.")});
      }));
  add("compared", two_runs(), [](Workbench& bench) { run_action(bench, "compare"); });
  add("compared with another problem", of_problem([](Problem& problem) { problem.seq_q = 256; }, false),
      [](Workbench& bench) { run_action(bench, "compare"); });
  add("another problem than A", of_problem([](Problem& problem) { problem.seq_q = 256; }, false));
  const Snapshot three = snapshot_after({"m32_w2", "m32_w4", "m32_w8"});
  add("pinned", three, [three](Workbench& bench) { pin_first(bench, three); });
  Snapshot picked = three;
  picked.selected = picked.history.at(1);
  add("picked", picked);
  add("picked is A", picked, [](Workbench& bench) { run_action(bench, "pin"); });
  Snapshot picked_failure = snapshot_after({"m32_w4", "m64_w4", "m32_w8"});
  picked_failure.selected = picked_failure.history.at(1);
  add("picked a failure", picked_failure);
  add("notes", noted("for the talk", true));
  add("a star", noted("", true));
  add("measured", measured(CacheState::hot, Stopped::stable, true));
  add("measured cold", measured(CacheState::cold, Stopped::time_up, true));
  add("measured beside modelled", measured(CacheState::hot, Stopped::hopeless, false));
  add("faster than A", both_changed(two_runs(), [](uint64_t run, Observation& seen) {
        Timing& timing = *seen.timing;
        timing.p10 = timing.p50 = timing.p90 = run == 1 ? 100 : 40;
        timing.interval_low = timing.p50 * 0.95;
        timing.interval_high = timing.p50 * 1.05;
      }));
  add("slower than A", both_changed(two_runs(), [](uint64_t run, Observation& seen) {
        Timing& timing = *seen.timing;
        timing.p10 = timing.p50 = timing.p90 = run == 1 ? 0.5 : 2500;
        timing.interval_low = timing.p50 * 0.95;
        timing.interval_high = timing.p50 * 1.05;
      }));
  of_last("bound by Tensor Cores", [](Observation& seen) {
    seen.timing->bound = Bound::tensor_cores;
    seen.tflops = 88.25;
  });
  of_last("no bound", [](Observation& seen) {
    seen.timing->bound = Bound::unknown;
    seen.tflops.reset();
  });
  add("causal", of_problem([](Problem& problem) { problem.causal = Causal::bottom_right; }));
  add("causal from the top, more keys", of_problem([](Problem& problem) {
        problem.causal = Causal::top_left;
        problem.seq_q = 256;
      }));
  add("one head", of_problem([](Problem& problem) { problem.heads = problem.kv_heads = 1; }));
  add("batch and grouped heads", of_problem([](Problem& problem) {
        problem.batch = 2;
        problem.kv_heads = 2;
        problem.scale = 0.25;
        problem.distribution = Distribution::large;
        problem.seed = 7;
      }),
      [](Workbench& bench) {
        bench.view().batch = 1;
        bench.view().head = 3;
      });
  add("a reduction", of_problem([](Problem& problem) {
        problem.kind = ProblemKind::reduction;
        problem.sizes = {{"N", 1000}, {"ROWS", 12}};
      }));
  add("half scanned", scanned(false));
  add("scanned", scanned(true));
  add("scanned, a tie", scanned(true, true));
  Snapshot same = two_runs();
  same.focus.same_code_as = "NUM_WARPS=2";
  add("the same code", same);
  of_last("spills, dynamic memory", [](Observation& seen) {
    VariantInfo& variant = *seen.variant;
    variant.spill_bytes = 64;
    variant.stack_bytes = 2048;
    variant.cached = false;
    variant.compile_ms = 2345;
    variant.dynamic_shared_bytes = variant.static_shared_bytes;
    variant.static_shared_bytes = 0;
    for (SharedBuffer& buffer : variant.shared_buffers) buffer.dynamic = true;
  });
  of_last("no shared memory", [](Observation& seen) {
    VariantInfo& variant = *seen.variant;
    variant.static_shared_bytes = variant.dynamic_shared_bytes = 0;
    variant.shared_buffers.clear();
    variant.cached = false;
    variant.compile_ms = 87;
  });
  of_last("too much static memory", [](Observation& seen) {
    seen.variant->static_shared_bytes = 60000;
    seen.occupancy.reset();
  });
  of_last("more than a CTA may have", [](Observation& seen) {
    seen.variant->dynamic_shared_bytes = 102000;
    seen.occupancy->ctas_per_sm = seen.occupancy->warps_per_sm = 0;
  });
  for (const auto& [limiter, name] : {std::pair{Limiter::registers, "registers limit"},
                                      {Limiter::warps, "warps limit"},
                                      {Limiter::ctas, "CTAs limit"},
                                      {Limiter::barriers, "barriers limit"},
                                      {Limiter::unknown, "nothing limits"}})
    of_last(name, [limiter = limiter](Observation& seen) { seen.occupancy->limiter = limiter; });
  of_last("full waves", [](Observation& seen) { seen.occupancy = Occupancy{1, 48, 1, Limiter::warps, 2, 116, 58, 0}; });
  of_last("less than a wave",
          [](Observation& seen) { seen.occupancy = Occupancy{3, 12, 0.25, Limiter::shared_memory, 0.1, 17, 174, 17}; });
  add("a program", both_changed(two_runs(), [](uint64_t, Observation& seen) { make_program(seen); }));
  of_last("a program beside none", make_program);
  of_last("sampled counters", [](Observation& seen) {
    seen.counters->emulated_ctas = 13;
    seen.counters->sampled_fraction = 0.1;
    seen.counters->local_sectors = 4096;
    seen.counters->active_lanes_mean = 17.5;
    seen.counters->shared_wavefronts_ideal = 0;
  });
  of_last("nothing counted", [](Observation& seen) { seen.counters.reset(); });
  of_last("not timed", [](Observation& seen) { seen.timing.reset(); });
  add("the device is gone", [] {
    Snapshot snapshot = two_runs();
    snapshot.devices = session::share(std::vector<DeviceSpec>{});
    return snapshot;
  }());
  add("no kernel", [] {
    Snapshot snapshot = two_runs();
    snapshot.kernels = session::share(std::vector<Kernel>{});
    return snapshot;
  }());
  add("kernels fail", [] {
    Snapshot snapshot = two_runs();
    snapshot.kernel_failures = session::share(std::vector<Failure>{{Stage::catalog, "a.json: no entry", "Name one."},
                                                                   {Stage::catalog, "b.json: no source", ""}});
    return snapshot;
  }());
  add("a kernel that needs another device", of_kernel([](Kernel& kernel) { kernel.min_arch = 90; }));
  add("a kernel without knobs", of_kernel([](Kernel& kernel) {
        kernel.knobs.clear();
        kernel.rung = 0;
        kernel.story.clear();
      }));
  add("a library's routine", of_kernel([](Kernel& kernel) {
        kernel.library = Library(LibraryId::cublas);
        kernel.source.clear();
        kernel.install = "Install cuBLAS.";
      }));
  add("first start", [] {
    Snapshot snapshot = two_runs();
    snapshot.first_start = true;
    snapshot.invite = {{"NUM_WARPS", 4}};
    return snapshot;
  }());
  add(
      "invited before",
      [] {
        Snapshot snapshot = two_runs();
        snapshot.invite = {{"NUM_WARPS", 4}};
        return snapshot;
      }(),
      [](Workbench& bench) { bench.settings().invited = true; });
  add("a preset's note", [] {
    Snapshot snapshot = two_runs();
    snapshot.preset_path = "/presets/start.json";
    snapshot.preset_title = "As it starts";
    snapshot.preset_note = "Turn NUM_WARPS.";
    return snapshot;
  }());
  add("warned", wanting({{"NUM_WARPS", 1}, {"SYNC_POLICY", 0}}));
  add("options", changed(two_runs(), [](Observation& seen) {
        CompileOptions& options = seen.experiment.config.options;
        options.fast_math = options.fmad = false;
        options.maxrregcount = 40;
        options.launch_bounds = 2;
        options.compiler = CompilerChoice::nvcc;
        seen.variant->compiler = "nvcc 13.0.88";
      }));
  add("on a GPU", on_a_gpu(two_runs()));
  add("light", two_runs(), [](Workbench& bench) { bench.settings().theme = ThemeMode::light; });
  add("contrast", two_runs(), [](Workbench& bench) { bench.settings().theme = ThemeMode::white; });
  add("zoomed", two_runs(), [](Workbench& bench) { bench.settings().zoom = 1.5f; });
  add("logarithmic", two_runs(), [](Workbench& bench) { bench.view().latency_axis = charts::AxisChoice::logarithmic; });
  add("linear", two_runs(), [](Workbench& bench) { bench.view().latency_axis = charts::AxisChoice::linear; });
  add("output", two_runs(), [](Workbench& bench) { bench.view().map = MapKind::output; });
  add("reference", two_runs(), [](Workbench& bench) { bench.view().map = MapKind::reference; });
  add("many runs", snapshot_after({"minimal", "m32_w1", "m32_w2", "m32_w4", "m32_w6", "m32_w8", "m48_w4", "m64_w4",
                                   "m64_w4_dynamic", "m16_w4", "m32_w8_v8"}));
  return all;
}

std::vector<State> states_of_the_frame() {
  std::vector<State> all = states_of_runs();
  const auto add = [&](const char* name, const std::function<void(Snapshot&)>& change) {
    Snapshot snapshot = two_runs();
    change(snapshot);
    all.push_back({name, std::move(snapshot), {}});
  };
  using enum session::WorkerState;
  for (const auto& [state, name] : {std::pair{starting, "a worker starts"},
                                    {ready, "a worker is ready"},
                                    {busy, "a worker is busy"},
                                    {restarting, "a worker restarts"},
                                    {lost, "a worker is lost"}})
    add(name, [state = state](Snapshot& snapshot) {
      snapshot.workers.front().state = state;
      snapshot.workers.front().detail = "it says why";
      snapshot.workers.push_back({"l4box", ready, "", {}, {}});
      snapshot.workers.back().round_trip_ms = 12;
    });
  add("queued runs", [](Snapshot& snapshot) {
    snapshot.queue_waiting = 3;
    snapshot.workers.front().state = busy;
    snapshot.workers.front().detail = "emulating tiled, 43 of 128 CTAs";
  });
  add("toasts", [](Snapshot& snapshot) {
    snapshot.toasts = {{1, session::LogLevel::error, "It could not be saved", "Choose another folder."},
                       {2, session::LogLevel::warning, "It is slow", ""},
                       {3, session::LogLevel::info, "It was saved", ""}};
  });
  add("a preset", [](Snapshot& snapshot) {
    snapshot.preset_path = "/presets/start.json";
    snapshot.preset_title = "As it starts";
    snapshot.preset_modified = true;
    snapshot.can_undo = snapshot.can_redo = true;
  });
  add("a session", [](Snapshot& snapshot) {
    snapshot.opened.title = "Monday";
    snapshot.opened.path = "/s/monday.json";
  });
  add("versions", [](Snapshot& snapshot) {
    snapshot.workers.front().versions = {"0.1.0", "12.8", "570.1", "NVIDIA L4"};
  });
  return all;
}

}  // namespace attnscope::ui
