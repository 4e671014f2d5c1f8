// How the window looks as a whole.
#include "ui/look.h"

namespace attnscope::ui {
namespace {

using session::PartState;

TEST_F(Look, OfTwoRunsInAUsualWindow) {
  open(snapshot_after({"m32_w4", "m32_w8"}), {1600, 900}, ThemeMode::dark);
  EXPECT_TRUE(bench_->settled());
  expect_as_recorded("two_runs");
}

// A picture waits for maps that have not come, even for a run that ended before the first frame.
TEST_F(Look, IsNotSettledWithoutItsMaps) {
  class WithoutMaps : public StillSession {
   public:
    using StillSession::StillSession;
    void request_view(ViewRequest) override {}
  };
  session_ = std::make_unique<WithoutMaps>(snapshot_after({"m32_w4"}));
  open_window({1600, 900});
  bench_->ignore_kept_settings();
  for (int i = 0; i < 20; ++i) {
    frame();
    EXPECT_FALSE(bench_->settled()) << "frame " << i;
  }
}

// A picture waits for the end of the run, whatever else is there.
TEST_F(Look, IsSettledWhenNothingRunsAndSomethingIsThere) {
  const auto settled = [&](const std::function<void(session::Focus&)>& change) {
    if (bench_) close();
    session::Snapshot snapshot = snapshot_after({"m32_w4"});
    change(snapshot.focus);
    open(std::move(snapshot), {1280, 720}, ThemeMode::dark);
    return bench_->settled();
  };
  EXPECT_TRUE(settled([](session::Focus&) {}));
  EXPECT_FALSE(settled([](session::Focus& focus) { focus.running = true; }));
  EXPECT_FALSE(settled([](session::Focus& focus) { focus.shown = nullptr; })) << "the first run has not begun";
  EXPECT_TRUE(settled([](session::Focus& focus) {
    focus.shown = nullptr;
    focus.failure = Failure{Stage::compile, "It failed.", ""};
  }));
  for (const auto watch : {session::WatchState::waiting, session::WatchState::running})
    EXPECT_FALSE(settled([&](session::Focus& focus) { focus.watch = watch; }));
}

TEST_F(Look, OfARunInASmallWindow) {
  session::Snapshot snapshot = snapshot_after({"m32_w4", "m32_w8", "m32_w4"});
  session::Focus& focus = snapshot.focus;
  focus.wanted = snapshot.history.at(1).observation->experiment;
  focus.wanted_hash = hash_of(focus.wanted);
  focus.running = true;
  focus.stage = "emulating";
  focus.progress = 0.4;
  for (int part = 0; part < session::kParts; ++part) {
    focus.parts[part] = PartState::kept;
    focus.part_from[part] = "NUM_WARPS=4";
  }
  focus.parts[static_cast<int>(session::Part::variant)] = PartState::fresh;
  open(std::move(snapshot), {1024, 640}, ThemeMode::light);
  expect_as_recorded("running_in_a_small_window");
}

TEST_F(Look, OfAFailureInALargeWindow) {
  session::Snapshot snapshot = snapshot_of_a_refusal();
  snapshot.toasts = {{1, session::LogLevel::error, "The preset could not be saved", "Choose another folder."}};
  open(std::move(snapshot), {2560, 1440}, ThemeMode::light);
  expect_as_recorded("failure_in_a_large_window");
}

TEST_F(Look, OfEveryPanelInALargeWindow) {
  session::Snapshot snapshot = snapshot_after({"minimal", "m32_w8", "m32_w4"});
  open(std::move(snapshot), {2560, 1440}, ThemeMode::dark);
  EXPECT_TRUE(bench_->settled());
  expect_as_recorded("large_window");
}

// One value of each kind: the fastest, a tie, wrong, refused, and one that waits.
TEST_F(Look, OfAScannedKnob) {
  session::Snapshot snapshot = snapshot_after({"m32_w4", "m32_w8"});
  Scan scan{1, snapshot.focus.wanted, {}, {}};
  for (const auto& [value, recorded] : {std::pair{1, -1}, {2, 1}, {4, 0}, {6, -1}, {8, 1}}) {
    ScanPoint point{"NUM_WARPS", {value, ""}, value == 8, scan.held.config, {}, {}, nullptr, {}};
    point.config.knobs["NUM_WARPS"] = value;
    if (recorded >= 0) point.observation = snapshot.history.at(static_cast<size_t>(recorded)).observation;
    scan.points.push_back(std::move(point));
  }
  scan.points[3].refused = Failure{Stage::limits, "NUM_WARPS=6: too much", "Set SHARED to dynamic."};
  auto wrong = std::make_shared<Observation>(*scan.points[2].observation);
  wrong->verdict->state = VerdictState::wrong;
  scan.points[2].observation = std::move(wrong);
  snapshot.scans = {session::share(std::move(scan))};
  open(std::move(snapshot), {1280, 720}, ThemeMode::light);
  Drawing views;
  for (const char* view : {"by knob", "roofline"}) {
    const Drawing drawn =
        drawn_after([&](ImGuiTestContext* ctx) { ctx->ItemClick((std::string("//Latency/") + view).c_str()); });
    views[std::string("Latency ") + view] = drawn.at("Latency");
    if (view[0] == 'b') views["Experiment"] = drawn.at("Experiment");
  }
  expect_as_recorded("scanned_knob", views);
}

// Each is over the same window, which is not recorded again.
TEST_F(Look, OfDialogsAndMenus) {
  session::Snapshot snapshot = snapshot_after({"m32_w4", "m32_w8"});
  snapshot.presets = std::make_shared<const std::vector<session::PresetItem>>(
      std::vector<session::PresetItem>{{"As it starts", "/presets/start.json", "Defaults", "A note.", false},
                                       {"Mine", "/mine/mine.json", "Yours", "", true}});
  open(std::move(snapshot), {1280, 720}, ThemeMode::dark);
  Drawing overlays;
  const Drawing window = last_frame();
  const auto add = [&](const std::function<void(ImGuiTestContext*)>& opens) {
    for (const auto& [part, lines] : drawn_after(opens))
      if (!window.contains(part)) overlays[part] = lines;
    flow([](ImGuiTestContext* ctx) {
      ctx->KeyPress(ImGuiKey_Escape);
      ctx->Yield(4);
    });
  };
  for (const char* item : {"Help/Command sheet", "Help/What was found", "Run/Find the best config\u2026",
                           "Presets/Manage presets\u2026", "Run", "View", "Presets"})
    add([&](ImGuiTestContext* ctx) { ctx->MenuClick((std::string("//##MainMenuBar/") + item).c_str()); });
  add([](ImGuiTestContext* ctx) {
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P);
    ctx->Yield(4);
    ctx->KeyChars("layout");
  });
  // The history shows the comparison too.
  flow([](ImGuiTestContext* ctx) {
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_D);
    ctx->Yield(6);
  });
  overlays["History"] = last_frame()["History"];
  expect_as_recorded("dialogs", overlays);
}

}  // namespace
}  // namespace attnscope::ui
