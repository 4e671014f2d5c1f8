// The Sweep panel: its settings, start, pause and end, brushes, and a point that becomes the experiment.
#include <fmt/format.h>

#include "store/results.h"
#include "ui/context.h"
#include "ui/panels/trial_plots.h"
#include "ui/sweep_desk.h"
#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

using testing::HasSubstr;
using testing::Not;

class SweepFlow : public WindowFlow {
 protected:
  std::filesystem::path gate() const { return dir_ / "gate"; }
  void gates(bool open) {
    std::filesystem::create_directories(gate());
    for (const char* part : {"variant", "occupancy", "counters", "verdict", "timing", "done", "watch"})
      if (open)
        std::ofstream(gate() / part);
      else
        std::filesystem::remove(gate() / part);
  }
  // Ticks all values of `free`, and only the current value of every other knob.
  void choose(ImGuiTestContext* ctx, const std::string& free) {
    bench_->open_panel("Sweep");
    ctx->Yield(10);
    const Kernel* kernel = session::find_kernel(*now(), now()->focus.wanted.kernel);
    ASSERT_NE(kernel, nullptr);
    ctx->ItemClick("//Sweep/set-up");
    for (const Knob& knob : kernel->knobs)
      ctx->ItemClick(("//Sweep/" + knob.name + (knob.name == free ? "/all" : "/current")).c_str());
    wait_for_count(ctx);
  }
  bool wait_for_count(ImGuiTestContext* ctx) {
    ctx->Yield(3);
    return wait(
        ctx, [&](const session::Snapshot&) { return !bench_->sweep().counts(); }, "the count of the configs");
  }
  std::shared_ptr<const sweep::JobState> state() const { return bench_->sweep().job()->state(); }
  bool wait_for_end(ImGuiTestContext* ctx) {
    const bool ended = wait(
        ctx, [&](const session::Snapshot&) { return !bench_->sweep().runs(); }, "the end of the sweep");
    ctx->Yield(3);
    return ended;
  }
  // Starts a sweep over `free`; one of its runs is under way and waits at the gates.
  bool start_gated(ImGuiTestContext* ctx, const std::string& free) {
    choose(ctx, free);
    gates(false);
    const size_t before = runs();
    ctx->ItemClick("//Sweep/Start");
    return wait(
        ctx, [&](const session::Snapshot&) { return runs() > before; }, "a run of the sweep");
  }
  // The values of that knob that have ended, in the table's order.
  std::vector<int64_t> listed(const std::string& knob) const {
    std::vector<int64_t> values;
    for (const sweep::Trial& trial : state()->trials->rows)
      values.push_back(state()->scan->points[trial.point].config.knobs.at(knob));
    return values;
  }
  int64_t kept() const {
    auto results = store::Results::open(options_.state_dir / "results.sqlite");
    return results ? (*results)->count().value_or(-1) : -1;
  }
};

TEST(TrialPlots, AtMostFourThousandTrialsAreDrawn) {
  for (const size_t rows : {0, 1, 4000}) EXPECT_EQ(stride_of(rows), 1u) << rows;
  EXPECT_EQ(stride_of(4001), 2u);
  EXPECT_EQ(stride_of(8000), 2u);
  EXPECT_EQ(stride_of(8001), 3u);
}

TEST_F(SweepFlow, StartFillsTheTrialsAndAPointBecomesTheExperiment) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    choose(ctx, "NUM_WARPS");
    EXPECT_THAT(drawn_words(ctx), HasSubstr("5 configs, 1 excluded (1 warning), 4 to run"));
    ctx->ItemClick("//Sweep/Start");
    if (!wait_for_end(ctx)) return;
    EXPECT_EQ(state()->phase, sweep::Phase::done) << (state()->failure ? state()->failure->message : "");
    EXPECT_THAT(listed("NUM_WARPS"), testing::UnorderedElementsAre(1, 2, 4, 8));
    EXPECT_EQ(state()->trials->rows.front().rank, 1u);
    EXPECT_TRUE(state()->trials->rows.front().watched) << "what leads is watched";
    EXPECT_EQ(now()->history.size, 1u) << "a sweep is no history";
    const int64_t kept_once = kept();
    EXPECT_GE(kept_once, 4);
    const std::string drawn = drawn_words(ctx);
    EXPECT_THAT(drawn, HasSubstr("done: 4 of 4"));
    EXPECT_THAT(drawn, HasSubstr("best "));
    ctx->ItemClick("//Sweep/###excluded");
    EXPECT_THAT(drawn_words(ctx), HasSubstr("does not divide"));
    // A repeated sweep knows what ran.
    const size_t before = runs();
    ctx->ItemClick("//Sweep/Start");
    if (!wait_for_end(ctx)) return;
    EXPECT_EQ(listed("NUM_WARPS").size(), 4u);
    EXPECT_EQ(runs(), before);
    EXPECT_EQ(kept(), kept_once);
    // The last row of the table is the slowest.
    const int64_t slowest = listed("NUM_WARPS").back();
    ctx->ItemClick("//Sweep/###trial3");
    if (!wait_for_run(ctx, "NUM_WARPS", slowest)) return;
    EXPECT_THAT(now()->focus.change, HasSubstr("from the sweep"));
    EXPECT_EQ(listed("NUM_WARPS").size(), 4u) << "the sweep stays";
  });
}

TEST_F(SweepFlow, PausesGoesOnAndStops) {
  gates(true);
  fake_worker({"--gate", gate().string()});
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    if (!start_gated(ctx, "NUM_WARPS")) return;
    ctx->ItemClick("//Sweep/###pause");
    const auto idle = [](const session::Snapshot& s) {
      return !s.scans.empty() && s.scans.back()->ended_early && s.workers.front().state == session::WorkerState::ready;
    };
    if (!wait(ctx, idle, "the end of what ran")) return;
    gates(true);
    const size_t before = runs();
    ctx->Yield(20);
    EXPECT_EQ(runs(), before) << "nothing runs while it is paused";
    EXPECT_THAT(drawn_words(ctx), HasSubstr("paused: "));
    EXPECT_TRUE(bench_->sweep().runs());
    ctx->ItemClick("//Sweep/###pause");
    if (!wait_for_end(ctx)) return;
    EXPECT_EQ(state()->phase, sweep::Phase::done);
    EXPECT_THAT(listed("NUM_WARPS"), testing::UnorderedElementsAre(1, 2, 4, 8)) << "each once";

    if (!start_gated(ctx, "BLOCK_M")) return;
    ctx->ItemClick("//Sweep/Stop");
    if (!wait_for_end(ctx)) return;
    EXPECT_EQ(state()->phase, sweep::Phase::stopped);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("stopped: "));
    gates(true);
  });
}

TEST_F(SweepFlow, AnotherWorkersDeviceTakesPart) {
  gates(true);
  fake_worker({"--gate", gate().string()});
  session::WorkerCommand second = options_.workers.front();
  second.name = "second";
  *std::ranges::find(second.argv, (dir_ / "requests").string()) = (dir_ / "requests_of_second").string();
  options_.workers.push_back(std::move(second));
  open();
  const auto runs_of_second = [&] {
    std::ifstream file(dir_ / "requests_of_second");
    size_t count = 0;
    for (std::string line; std::getline(file, line);) count += line.starts_with("run ");
    return count;
  };
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    const std::string twin = "second/" + now()->focus.wanted.device;
    const auto up = [&](const session::Snapshot& s) { return session::find_device(s, twin) != nullptr; };
    if (!wait(ctx, up, "the second worker")) return;
    choose(ctx, "NUM_WARPS");
    const auto others = SweepDesk::others(*now(), now()->focus.wanted.device, false);
    EXPECT_THAT(others, testing::ElementsAre(testing::FieldsAre(twin, "")));
    bench_->sweep().wishes(now()->focus.wanted.kernel).devices = {twin};
    if (!wait_for_count(ctx)) return;
    EXPECT_THAT(drawn_words(ctx), HasSubstr(twin));
    gates(false);
    const size_t before = runs();
    ctx->ItemClick("//Sweep/Start");
    const auto both = [&](const session::Snapshot&) { return runs() > before && runs_of_second() > 0; };
    if (!wait(ctx, both, "a run on each worker")) return;
    gates(true);
    if (!wait_for_end(ctx)) return;
    EXPECT_EQ(state()->phase, sweep::Phase::done) << (state()->failure ? state()->failure->message : "");
    EXPECT_THAT(listed("NUM_WARPS"), testing::UnorderedElementsAre(1, 2, 4, 8)) << "each once";
  });
}

// The session's device is taken for a GPU: its runs are the recorded ones, however short a round is.
TEST_F(SweepFlow, HalvingLosesNoConfigAndEndsWithTheFastest) {
  open();
  flow([&](ImGuiTestContext* ctx) { wait_for_run(ctx, "NUM_WARPS", 4); });
  const auto ran = now();
  const Kernel* kernel = session::find_kernel(*ran, ran->focus.wanted.kernel);
  const DeviceSpec* device = session::find_device(*ran, ran->focus.wanted.device);
  ASSERT_TRUE(kernel != nullptr && device != nullptr);
  sweep::Place place;
  place.session = session_.get();
  place.device = {*device, session::worker_of(*ran, device->id)->versions};
  place.device.device.emulated = false;
  place.new_id = next_gesture;
  sweep::Plan plan;
  plan.kernel = *kernel;
  static_cast<Draft&>(plan.held) = ran->focus.wanted;
  plan.held.kernel_hash = kernel->content_hash;
  std::vector<std::string> fixed;
  for (const Knob& knob : kernel->knobs)
    if (knob.name != "NUM_WARPS") fixed.push_back(knob.name);
  const auto space = search::whole_space(*kernel, plan.held.config, fixed);
  ASSERT_TRUE(space) << space.error().message;
  plan.space = *space;
  const auto best_of = [&](search::StrategyKind strategy, std::vector<std::string>& notes, std::set<int64_t>& rounds) {
    plan.strategy = strategy;
    sweep::Search::Settings settings;
    settings.watch = sweep::Watching::nothing;
    sweep::Search search(plan, search::candidates_of(plan.space, *kernel, plan.held.problem, *device), place, settings);
    const auto done = search.run();
    EXPECT_TRUE(done) << done.error().message;
    notes = search.notes();
    std::set<int64_t> tried;
    for (const ScanPoint& point : search.scan().points) {
      EXPECT_TRUE(tried.insert(point.config.knobs.at("NUM_WARPS")).second) << "each once";
      if (point.observation) rounds.insert(point.observation->experiment.measure.max_time_ms);
    }
    EXPECT_EQ(tried, (std::set<int64_t>{1, 2, 4, 8}));
    const sweep::Board board = search.board();
    const auto dropped = std::ranges::count(board.rejected, "dropped", &sweep::Rejected::why);
    EXPECT_EQ(board.rows.size() + static_cast<size_t>(dropped), 4u);
    return board.rows.empty() ? "" : board.rows.front().text;
  };
  std::vector<std::string> notes;
  std::set<int64_t> rounds;
  const std::string best = best_of(search::StrategyKind::exhaustive, notes, rounds);
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(rounds, std::set<int64_t>{plan.held.measure.max_time_ms});
  EXPECT_EQ(best_of(search::StrategyKind::halving, notes, rounds), best);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes.front(), testing::StartsWith("halving: 4 configs up to 30 ms, then "));
  EXPECT_THAT(notes.front(), testing::EndsWith(fmt::format("up to {} ms", plan.held.measure.max_time_ms)));
}

TEST_F(SweepFlow, CompileOptionsAreTickedLikeKnobs) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    choose(ctx, "NUM_WARPS");
    EXPECT_THAT(drawn_words(ctx), HasSubstr("5 configs, 1 excluded (1 warning), 4 to run"));
    EXPECT_THAT(drawn_words(ctx), HasSubstr("no other one has such a device"));
    const auto& wishes = bench_->sweep().wishes(now()->focus.wanted.kernel);
    ctx->ItemClick("//Sweep/fast math/off");
    if (!wait_for_count(ctx)) return;
    EXPECT_THAT(drawn_words(ctx), HasSubstr("10 configs, 2 excluded (2 warning), 8 to run"));
    EXPECT_EQ(wishes.options.at("fast_math"), (std::set<int64_t>{0, 1}));
    EXPECT_TRUE(wishes.held.contains("BLOCK_M")) << "it follows the experiment";
    EXPECT_FALSE(wishes.held.contains("NUM_WARPS"));
    ctx->ItemClick("//Sweep/maxrregcount/64");
    if (!wait_for_count(ctx)) return;
    EXPECT_THAT(drawn_words(ctx), HasSubstr("20 configs, 4 excluded (4 warning), 16 to run"));
    ctx->ItemClick("//Sweep/maxrregcount/current");
    ctx->ItemClick("//Sweep/launch bounds/2");
    if (!wait_for_count(ctx)) return;
    EXPECT_EQ(wishes.options.at("launch_bounds"), (std::set<int64_t>{0, 2}));
    EXPECT_THAT(drawn_words(ctx), HasSubstr("20 configs, 4 excluded (4 warning), 16 to run"));
    ctx->ItemClick("//Sweep/launch bounds/current");
    ctx->ItemClick("//Sweep/fast math/on");
    ctx->ItemClick("//Sweep/fast math/off");
    if (!wait_for_count(ctx)) return;
    EXPECT_THAT(drawn_words(ctx), HasSubstr("no value of fast_math is ticked"));
    ctx->ItemClick("//Sweep/fast math/current");
    if (!wait_for_count(ctx)) return;
    EXPECT_THAT(drawn_words(ctx), HasSubstr("5 configs, 1 excluded (1 warning), 4 to run"));
    EXPECT_TRUE(wishes.options.empty());
    ctx->ItemClick("//Experiment/BLOCK_M/16");
    if (!wait_for_run(ctx, "BLOCK_M", 16) || !wait_for_count(ctx)) return;
    ctx->ItemClick("//Sweep/Start");
    if (!wait_for_end(ctx)) return;
    EXPECT_THAT(listed("BLOCK_M"), testing::Each(16)) << "the experiment's value at the start";
  });
}

TEST_F(SweepFlow, AKnobsTurnGoesFirstAndTheSweepGoesOn) {
  gates(true);
  fake_worker({"--gate", gate().string()});
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    const size_t before = runs();
    if (!start_gated(ctx, "NUM_WARPS")) return;
    ctx->ItemClick("//Experiment/BLOCK_M/16");
    const auto asked = [](const session::Snapshot& s) { return s.focus.wanted.config.knobs.at("BLOCK_M") == 16; };
    if (!wait(ctx, asked, "the turn")) return;
    EXPECT_TRUE(bench_->sweep().runs());
    gates(true);
    if (!wait_for_run(ctx, "BLOCK_M", 16) || !wait_for_end(ctx)) return;
    EXPECT_EQ(state()->phase, sweep::Phase::done);
    EXPECT_THAT(listed("NUM_WARPS"), testing::UnorderedElementsAre(1, 2, 4, 8));
    std::vector<std::string> asked_for;  // the worker's, from the sweep's first run on
    std::ifstream file(dir_ / "requests");
    for (std::string line; std::getline(file, line);)
      if (line.starts_with("run ")) asked_for.push_back(line);
    ASSERT_GT(asked_for.size(), before + 1);
    EXPECT_THAT(asked_for[before], HasSubstr("BLOCK_M=32"));
    EXPECT_THAT(asked_for[before + 1], HasSubstr("BLOCK_M=16")) << "the turn pre-empts the sweep's run";
  });
}

TEST_F(SweepFlow, ClosingTheWindowLosesNothing) {
  fake_worker({"--stall", "NUM_WARPS=8"});
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    choose(ctx, "NUM_WARPS");
    ctx->ItemClick("//Sweep/Start");
    const auto three = [&](const session::Snapshot&) { return state()->trials->rows.size() == 3; };
    if (!wait(ctx, three, "all but the one that hangs")) return;
    EXPECT_TRUE(bench_->sweep().runs());
  });
  close();
  EXPECT_EQ(kept(), 3);
  fake_worker({});
  open();
  const size_t before = runs();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    choose(ctx, "NUM_WARPS");
    ctx->ItemClick("//Sweep/Start");
    if (!wait_for_end(ctx)) return;
    EXPECT_THAT(listed("NUM_WARPS"), testing::UnorderedElementsAre(1, 2, 4, 8));
    std::ifstream file(dir_ / "requests");
    size_t run = 0;
    std::vector<std::string> later;
    for (std::string line; std::getline(file, line);)
      if (line.starts_with("run ") && ++run > before) later.push_back(line);
    EXPECT_THAT(later, Not(testing::Contains(HasSubstr("NUM_WARPS=1")))) << "it ran, and does not lead";
  });
}

TEST_F(SweepFlow, ASpaceThatRestrictionsEmptyIsRefusedWithTheReason) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    choose(ctx, "BLOCK_M");
    for (const char* value : {"16", "32", "48"}) ctx->ItemClick(fmt::format("//Sweep/BLOCK_M/{}", value).c_str());
    if (!wait_for_count(ctx)) return;
    EXPECT_THAT(drawn_words(ctx), HasSubstr("no config is left to try; 1 of 1: "));
    bench_->sweep().start();
    EXPECT_EQ(bench_->sweep().job(), nullptr);
    ctx->ItemClick("//Sweep/###excluded");
    EXPECT_THAT(drawn_words(ctx), HasSubstr("57,376"));
    ctx->ItemClick("//Sweep/set-up");
    ctx->ItemClick("//Sweep/BLOCK_M/64");
    if (!wait_for_count(ctx)) return;
    EXPECT_THAT(drawn_words(ctx), HasSubstr("no value of BLOCK_M is ticked"));
    EXPECT_EQ(runs(), 1u);
  });
}

// The fastest config has a race, which only the watch finds.
TEST_F(SweepFlow, WhatIsNotCorrectCannotLead) {
  fake_worker({"--race", "NUM_WARPS=8"});
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    choose(ctx, "NUM_WARPS");
    ctx->ItemClick("//Sweep/Start");
    if (!wait_for_end(ctx)) return;
    const auto& rows = state()->trials->rows;
    ASSERT_EQ(rows.size(), 4u);
    EXPECT_EQ(listed("NUM_WARPS").back(), 8);
    EXPECT_EQ(rows.back().rank, 0u);
    EXPECT_EQ(rows.back().verdict, "race");
    EXPECT_LT(*rows.back().us, *rows.front().us) << "it would have been the fastest";
    EXPECT_THAT(drawn_words(ctx), HasSubstr("race"));
  });
}

TEST_F(SweepFlow, BrushesLeaveAPartInPlotAndTable) {
  open();
  flow([&](ImGuiTestContext* ctx) {
    if (!wait_for_run(ctx, "NUM_WARPS", 4)) return;
    choose(ctx, "NUM_WARPS");
    ctx->ItemClick("//Sweep/Start");
    if (!wait_for_end(ctx)) return;
    bench_->settings().closed = {};
    ctx->ItemClick("//Sweep/parallel");
    ctx->Yield(3);
    EXPECT_THAT(drawn_words(ctx), Not(HasSubstr("kept: clear")));
    // The lower half of the axis of NUM_WARPS. The space has its columns in the manifest's order.
    const auto& columns = state()->trials->columns;
    const auto axis = std::ranges::find(columns, "NUM_WARPS", &sweep::TrialColumn::name) - columns.begin();
    const ImRect plot = ctx->ItemInfo("//Sweep/##parallel").RectFull;
    const float each = plot.GetWidth() / static_cast<float>(columns.size());
    const float x = plot.Min.x + (static_cast<float>(axis) + 0.35f) * each;
    ctx->MouseTeleportToPos({x, plot.Max.y - 12});
    ctx->MouseDown();
    ctx->MouseTeleportToPos({x, plot.Min.y + 0.6f * plot.GetHeight()});
    ctx->Yield(2);
    ctx->MouseUp();
    ctx->Yield(3);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("2 of 4 kept: clear"));
    ctx->ItemClick("//Sweep/###clear");
    EXPECT_THAT(drawn_words(ctx), Not(HasSubstr("kept: clear")));
    // A drag between two axes does nothing, even if it ends on a trial's line.
    const Draft before = now()->focus.wanted;
    for (float share = 0.15f; share < 0.85f; share += 0.05f) {
      ctx->MouseTeleportToPos({x + 0.5f * each, plot.Max.y - 12});
      ctx->MouseDown();
      ctx->MouseTeleportToPos({x + 0.5f * each, plot.Min.y + share * plot.GetHeight()});
      ctx->Yield(2);
      ctx->MouseUp();
      ctx->Yield(2);
    }
    ctx->Yield(10);
    EXPECT_EQ(now()->focus.wanted, before);
    EXPECT_THAT(drawn_words(ctx), Not(HasSubstr("kept: clear")));
    ctx->ItemClick("//Sweep/scatter");
    ctx->Yield(3);
    const ImRect scatter = ctx->ItemInfo("//Sweep/##scatter").RectFull;
    ctx->MouseTeleportToPos({scatter.Min.x + 2, scatter.Min.y + 2});
    ctx->MouseDown();
    ctx->MouseTeleportToPos({scatter.Max.x - 2, scatter.Max.y - 2});
    ctx->Yield(2);
    ctx->MouseUp();
    ctx->Yield(3);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("4 of 4 kept: clear"));
  });
}

}  // namespace
}  // namespace attnscope::ui
