// Sweeps, maps, the source's editor, dialogs and the hardware's counters, in many states each.
#include <cmath>

#include "catalog/catalog.h"
#include "ui/hardware_desk.h"
#include "ui/listening_session.h"
#include "ui/states.h"
#include "ui/still_code.h"
#include "ui/sweep_desk.h"

namespace attnscope::ui {
namespace {

constexpr ShotSize kTall{1400, 2600}, kNarrow{460, 1500};

class LookStatesOfParts : public LookStates {};

// The sweep's set-up with each kind of choice, and a sweep that has begun.
TEST_F(LookStatesOfParts, SweepSetup) {
  Gallery gallery("states_sweep");
  const auto count = [&] {
    wait_for_frames([&] { return !bench_->sweep().counts(); });
    rest();
  };
  for (const ShotSize size : {kTall, kNarrow}) {
    open_alone("Sweep", size);
    const std::string series = std::to_string(size.width);
    const auto wish = [&](const char* name, const std::function<void(SweepWishes&)>& change) {
      SweepWishes& wishes = bench_->sweep().wishes("tiled");
      wishes = {};
      for (const char* knob : {"VEC_WIDTH", "SYNC_POLICY", "SWIZZLE_XOR", "REDUCE_WARP", "SO_TYPE"})
        wishes.held.insert(knob);  // fewer configs to count
      change(wishes);
      frame();
      count();
      add(gallery, series, name);
    };
    show(states_of_runs().front());
    wish("all", [](SweepWishes&) {});
    if (size.width == kTall.width) gallery.add_words("told, all", told());
    wish("held", [](SweepWishes& wishes) { wishes.held.insert("BLOCK_M"); });
    wish("ticked", [](SweepWishes& wishes) {
      wishes.ticked["NUM_WARPS"] = {4};
      wishes.ticked["BLOCK_M"] = {16, 32};
      wishes.options["fast_math"] = {0, 1};
      wishes.options["maxrregcount"] = {0, 64};
    });
    wish("nothing ticked", [](SweepWishes& wishes) { wishes.ticked["NUM_WARPS"] = {}; });
    wish("none of an option", [](SweepWishes& wishes) { wishes.options["fmad"] = {}; });
    wish("none fits", [](SweepWishes& wishes) {
      wishes.ticked["BLOCK_M"] = {64};
      wishes.held.insert({"BLOCK_N", "SHARED", "NUM_WARPS"});
    });
    for (const auto& [strategy, word] : Words<search::StrategyKind>::table)
      wish(std::string(word).c_str(), [strategy = strategy](SweepWishes& wishes) {
        wishes.strategy = strategy;
        wishes.budget = 10;
      });
    flow([&](ImGuiTestContext* ctx) {
      ctx->ItemClick("//Sweep/**/###excluded");
      ctx->MouseTeleportToPos({-10, -10});
    });
    rest();
    add(gallery, series, "excluded");
    flow([&](ImGuiTestContext* ctx) {
      ctx->ItemClick("//Sweep/scatter");
      ctx->MouseTeleportToPos({-10, -10});
    });
    rest();
    add(gallery, series, "no sweep yet");
  }
  gallery.expect_as_recorded();
}

// Answers each config of a sweep at once: slower ones, ties of the fastest, a wrong one and one that fails.
class SweepingSession : public ListeningSession {
 public:
  using ListeningSession::ListeningSession;
  void scan(session::ScanRequest request) override {
    const auto now = snapshot();
    Scan made{request.id, now->focus.shown->experiment, {}, {}};
    static_cast<Draft&>(made.held) = request.draft;
    made.held.kernel_hash = session::find_kernel(*now, "tiled")->content_hash;
    for (const Config& config : request.configs) {
      ScanPoint& point = made.points.emplace_back();
      point.config = config;
      auto run = std::make_shared<Observation>(*now->focus.shown);
      run->experiment = made.held;
      run->experiment.config = config;
      run->hash = hash_of(run->experiment);
      const int64_t rows = config.knobs.at("BLOCK_M"), warps = config.knobs.at("NUM_WARPS");
      Timing& timing = *run->timing;
      timing.p10 = timing.p50 = timing.p90 = double(100 + 4 * rows / warps);
      timing.interval_low = timing.p50 - 2;
      timing.interval_high = timing.p50 + 2;
      if (warps == 1) run->verdict->state = VerdictState::wrong, run->verdict->reason = "3 elements differ.";
      if (warps == 2) {
        run->failure = Failure{Stage::launch, "It read outside q.", "Use a larger tile."};
        run->timing.reset();
        run->verdict.reset();
      }
      if (request.watch == session::Watch::always) run->watch = WatchReport{2, 128, 2, 3, {}, {}};
      point.observation = std::move(run);
    }
    if (answers) change([&](session::Snapshot& next) { next.scans.push_back(session::share(std::move(made))); });
  }
  void end_scan(uint64_t) override {}
  bool answers = true;
};

TEST_F(LookStatesOfParts, SweepPanelsTrials) {
  Gallery gallery("states_trials");
  for (const ShotSize size : {ShotSize{1400, 700}}) {
    open_alone("Sweep", size);
    close();
    for (const bool answers : {false, true}) {
      if (!answers && size.width < 1000) continue;
      if (bench_) close();
      auto made = std::make_unique<SweepingSession>(states_of_code().front().snapshot);
      made->answers = answers;
      session_ = std::move(made);
      open_window(size);
      bench_->ignore_kept_settings();
      for (int at = 0; at < 12; ++at) frame();
      close_others();
      SweepWishes& wishes = bench_->sweep().wishes("tiled");
      for (const char* knob :
           {"BLOCK_N", "VEC_WIDTH", "SYNC_POLICY", "SWIZZLE_XOR", "REDUCE_WARP", "SHARED", "SO_TYPE"})
        wishes.held.insert(knob);
      frame();
      wait_for_frames([&] { return !bench_->sweep().counts(); });
      rest();
      const std::string series = std::to_string(size.width) + (answers ? " answered" : " waiting");
      parts_ = {"Sweep", "##status"};
      add(gallery, series, "before");
      const auto click = [&](const char* item, const char* name) {
        flow([&](ImGuiTestContext* ctx) {
          ctx->ItemClick((std::string("//Sweep/") + item).c_str());
          ctx->MouseTeleportToPos({-10, -10});
        });
        if (answers) wait_for_frames([&] { return bench_->sweep().job()->state()->over(); });
        rest();
        add(gallery, series, name);
      };
      click("Start", "started");
      if (!answers) {
        click("###pause", "paused");
        click("###pause", "resumed");
        continue;
      }
      if (size.width > 1000) gallery.add_words("told " + series + " scatter", told_at(grid(10, 5, 0.2f, 0.95f)));
      drag({0.2f, 0.4f}, {0.4f, 0.8f});
      add(gallery, series, "scatter, brushed");
      drag({0.45f, 0.3f}, {0.45f, 0.3f});
      add(gallery, series, "scatter, clicked");
      click("parallel", "parallel");
      if (size.width > 1000) gallery.add_words("told " + series + " parallel", told_at(grid(10, 5, 0.2f, 0.95f)));
      for (const float x : {0.02f, 0.05f, 0.12f}) {
        drag({x, 0.4f}, {x, 0.7f});
        add(gallery, series, "parallel, brushed at " + std::to_string(int(100 * x)));
      }
      if (size.width < 1000) click("trials", "table");
      click("**/###excluded", "excluded");
      click("set-up", "set-up");
    }
  }
  gallery.expect_as_recorded();
}

// A map's values of each kind, rows that have not come, a refusal, what is told at places, and a part of it.
TEST_F(LookStatesOfParts, MapViewsOfErrorAndAttention) {
  Gallery gallery("states_maps");
  Tile tile;
  tile.width = 8;
  tile.height = 16;
  for (int at = 0; at < 8 * 16; ++at)
    tile.values.push_back(at % 11 == 3 ? NAN : at % 13 == 5 ? INFINITY : at % 7 == 0 ? 0 : 2.5f * float(at - 40));
  tile.ready_rows.assign(16, 1);
  std::fill(tile.ready_rows.begin() + 10, tile.ready_rows.end(), 0);
  std::map<std::string, State> states;
  for (State& state : states_of_runs()) states.emplace(state.name, state);
  for (const char* panel : {"Error", "Attention"})
    for (const ShotSize size : {ShotSize{700, 900}, ShotSize{330, 520}}) {
      open_alone(panel, size);
      const std::string series = std::string(panel) + " " + std::to_string(size.width);
      const auto tell = [&](const std::string& name) {
        gallery.add_words(series + " told, " + name, told_at(grid(4, 4, 0.45f, 1)));
      };
      show(states.at("two runs"));
      add(gallery, series, "whole");
      tell("whole");
      flow([&](ImGuiTestContext* ctx) {
        ctx->MouseTeleportToPos(at({0.3f, 0.7f}));
        ctx->Yield(2);
        ctx->MouseWheelY(4);
        ctx->Yield(2);
        ctx->MouseTeleportToPos({-10, -10});
      });
      rest();
      add(gallery, series, "a part");
      tell("a part");
      for (const char* of : {"causal", "pinned"}) {
        show(states.at(of));
        add(gallery, series, std::string("a part, ") + of);
        tell(std::string("a part, ") + of);
      }
      drag({0.3f, 0.7f}, {0.2f, 0.65f});
      tell("moved");
      flow([&](ImGuiTestContext* ctx) {
        ctx->MouseTeleportToPos(at({0.3f, 0.7f}));
        ctx->MouseDoubleClick();
        ctx->MouseTeleportToPos({-10, -10});
      });
      rest();
      tell("whole again");
      static_cast<StillSession&>(*session_).tile = session::share(Tile(tile));
      for (const MapKind map : {MapKind::error, MapKind::output}) {
        State state = states.at("one head");
        state.set = [map](Workbench& bench) { bench.view().map = map; };
        show(state);
        add(gallery, series, std::string("not finite, ") + std::string(to_string(map)));
        tell(std::string("not finite, ") + std::string(to_string(map)));
      }
      State refused = states.at("batch and grouped heads");
      refused.set = {};
      show(refused);
      add(gallery, series, "another head");
    }
  gallery.expect_as_recorded();
}

// The source's editor, over a copy: as it is, with messages, typed, and in each kind of trouble.
TEST_F(LookStatesOfParts, SourceEditor) {
  Gallery gallery("states_editor");
  std::map<std::string, State> states;
  for (State& state : states_of_code()) states.emplace(state.name, state);
  const auto copied = [&](const char* name) {
    State state = states.at(name);
    auto kernels = *state.snapshot.kernels;
    for (Kernel& kernel : kernels) kernel.manifest_name = "/own/" + kernel.id + ".json";
    state.snapshot.kernels = session::share(std::move(kernels));
    state.snapshot.originals = session::share(std::map<std::string, std::string>{{"tiled", "int x;\n"}});
    return state;
  };
  for (const ShotSize size : {ShotSize{1400, 700}, ShotSize{520, 700}}) {
    open_alone("Source", size);
    const std::string series = std::to_string(size.width);
    parts_ = {"Source", "Revert"};
    State again = copied("code");
    again.name = "again";
    const State base = copied("code"), marked = copied("marked lines"), broken = copied("does not compile");
    show(base);
    flow([&](ImGuiTestContext* ctx) {
      ctx->ItemClick("//Source/Source");
      ctx->ItemClick("//Source/###edit");
      ctx->Yield(12);
      ctx->MouseTeleportToPos({-10, -10});
    });
    add_states(gallery, series, {base, marked, broken, again});
    gallery.add_words("told " + series, told());
    flow([&](ImGuiTestContext* ctx) {
      ctx->ItemClick("//Source/Revert\u2026");
      ctx->Yield(3);
      ctx->MouseTeleportToPos({-10, -10});
    });
    rest();
    add(gallery, series, "revert");
    flow([](ImGuiTestContext* ctx) { ctx->KeyPress(ImGuiKey_Escape); });
  }
  gallery.expect_as_recorded();
}

// Each dialog over a few states.
TEST_F(LookStatesOfParts, DialogsWorkersSessionsPresets) {
  Gallery gallery("states_dialogs");
  State base = states_of_runs().front();
  using enum session::WorkerState;
  using session::LinkTrouble;
  State workers = base, full = base;
  workers.name = "workers";
  full.name = "kept";
  session::WorkerStatus& first = workers.snapshot.workers.front();
  first.state = lost;
  first.detail = "it ended";
  first.trouble = LinkTrouble::ended;
  const session::WorkerStatus local = first;
  for (const auto& [name, state] :
       {std::pair{"l4box", busy}, {"h200", starting}, {"far", restarting}, {"gone", lost}}) {
    session::WorkerStatus made = local;
    made.name = name;
    made.state = state;
    made.remote = true;
    made.command = {"ssh", name, "attnscope", "worker"};
    made.trouble = state == lost         ? LinkTrouble::unreachable
                   : state == restarting ? LinkTrouble::silent
                                         : LinkTrouble::none;
    made.versions = {"0.1.0", state == busy ? "12.8" : "", state == busy ? "570.1" : "", "", {}, {}};
    if (state == busy) made.round_trip_ms = 12;
    made.devices.front().emulated = state != busy;
    made.gpus = {{made.devices.front().id, 1980, 70, 72, 61, {"power cap"}}};
    workers.snapshot.workers.push_back(made);
  }
  full.snapshot.user_preset_dir = "/mine";
  full.snapshot.presets = session::share(std::vector<session::PresetItem>{
      {"As it starts", "/presets/start.json", "Defaults", "A note.", false, {}},
      {"Mine", "/mine/mine.json", "Yours", "Of mine.", true, base.snapshot.focus.wanted}});
  full.snapshot.sessions = session::share(std::vector<session::SavedSession>{
      {"Monday", "/s/monday.json", "A note.", "tiled"}, {"Tuesday", "/s/tuesday.json", "", "minimal"}});
  full.snapshot.deleted_sessions =
      session::share(std::vector<session::SavedSession>{{"Old", "/s/old.json", "", "tiled"}});
  full.snapshot.opened.title = "Monday";
  full.snapshot.opened.path = "/s/monday.json";
  for (const ShotSize size : {ShotSize{1400, 1000}, ShotSize{700, 560}}) {
    open_alone("Log", size);
    for (const char* dialog :
         {"workers", "sessions", "presets", "shortcuts", "glossary", "found", "about", "best", "bench"})
      for (const State& state : {base, workers, full}) {
        if (state.name == "workers" &&
            std::set<std::string>{"shortcuts", "glossary", "sessions", "presets"}.contains(dialog))
          continue;
        show(state);
        const Drawing before = last_frame();
        bench_->actions().find(dialog)->run();
        rest();
        parts_.clear();
        for (const auto& [part, lines] : last_frame())
          if (!before.contains(part)) parts_.push_back(part);
        add(gallery, std::to_string(size.width) + " " + dialog, state.name);
        flow([](ImGuiTestContext* ctx) {
          for (int tries = 0; tries < 3; ++tries) ctx->KeyPress(ImGuiKey_Escape);
          ctx->Yield(3);
        });
      }
  }
  gallery.expect_as_recorded();
}

// The hardware's counters: why they cannot be read, and while they are read.
TEST_F(LookStatesOfParts, HardwareDeskAndPart) {
  Gallery gallery("states_hardware");
  fake_worker({"--profile"});
  State on_gpu{"on a GPU", snapshot_after({"m32_w4", "m32_w8"}), {}};
  auto kernels = *on_gpu.snapshot.kernels;
  for (Kernel& kernel : kernels)
    if (kernel.id == "tiled")
      kernel.content_hash = catalog::load_kernel(options_.kernel_dirs.front() / "02_tiled.json").value().content_hash;
  on_gpu.snapshot.kernels = session::share(std::move(kernels));
  on_gpu.snapshot = on_a_gpu(std::move(on_gpu.snapshot));
  revise_runs(on_gpu.snapshot, [](uint64_t, Observation& seen) { seen.experiment.device = seen.device = "cuda:0"; });
  on_gpu.snapshot.focus.wanted = on_gpu.snapshot.focus.shown->experiment;
  const auto but = [&](const char* name, const std::function<void(session::Snapshot&)>& change) {
    State state = on_gpu;
    state.name = name;
    change(state.snapshot);
    return state;
  };
  const std::vector<State> states{
      on_gpu,
      but("busy", [](session::Snapshot& snapshot) { snapshot.workers.front().state = session::WorkerState::busy; }),
      but("another worker's", [](session::Snapshot& snapshot) { snapshot.workers.front().name = "other"; }),
      but("no worker", [](session::Snapshot& snapshot) { snapshot.workers.clear(); }),
      but("edited", [](session::Snapshot& snapshot) {
        revise_runs(snapshot, [](uint64_t, Observation& seen) { seen.experiment.kernel_hash = "0123"; });
      })};
  for (const bool profiles : {false, true}) {
    profiling_ = profiles ? std::optional(options_) : std::nullopt;
    for (const ShotSize size : {ShotSize{1400, 1000}, ShotSize{460, 1500}}) {
      open_alone("Counters", size);
      const std::string series = std::to_string(size.width) + (profiles ? " profiles" : "");
      add_states(gallery, series, states);
      if (!profiles) continue;
      show(on_gpu);
      auto& still = static_cast<StillSession&>(*session_);
      still.times = true;
      const auto click = [&](const char* item) {
        flow([&](ImGuiTestContext* ctx) {
          ctx->ItemClick((std::string("//Counters/") + item).c_str());
          ctx->MouseTeleportToPos({-10, -10});
        });
      };
      click("Read hardware counters");
      rest();
      add(gallery, series, "waits");
      show(states_of_runs().front());
      add(gallery, series, "waits, of another run");
      show(on_gpu);
      click("###cancel hardware");
      rest();
      add(gallery, series, "cancelled");
      still.times = false;
      for (const char* item : {"Read hardware counters", "Read A's"}) {
        click(item);
        wait_for_frames([&] { return !bench_->hardware().reads(); });
        rest();
        add(gallery, series, std::string("after ") + item);
      }
    }
  }
  gallery.expect_as_recorded();
}

}  // namespace
}  // namespace attnscope::ui
