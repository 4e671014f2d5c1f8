// Tours of what is seen less often: failures, several workers, dialogs, lessons.
#include "session/snapshot.h"
#include "ui/tour.h"

namespace attnscope::ui {
namespace {

constexpr const char* kReadouts[] = {"Experiment", "Latency", "Shared memory", "Error"};

TEST_F(Tour, OfARefusal) {
  open(snapshot_of_a_refusal(), {1600, 900}, ThemeMode::light);
  for (const char* panel : kReadouts) {
    hover(panel, std::string("//") + panel, {60, 30});
    click(panel, std::string("//") + panel, {"BLOCK", "NUM", "VEC", "SYNC", "SWIZ", "REDUCE", "SHARED"});
  }
  expect_as_recorded("refusal");
}

// A failure of each stage, told by the readout that it concerns.
TEST_F(Tour, OfEachStagesFailure) {
  for (const auto& [stage, word] : Words<Stage>::table) {
    session::Snapshot snapshot = snapshot_after({"m32_w4"});
    snapshot.focus.failure = Failure{stage, "It failed.", "Do it otherwise."};
    keep_parts(snapshot, "BLOCK_M=32");
    open(std::move(snapshot), {1280, 720}, ThemeMode::dark);
    for (const char* panel : {"Latency", "Error"}) hover(std::string(word) + " " + panel, std::string("//") + panel);
    stop(std::string(word) + " again", [](ImGuiTestContext* ctx) {
      for (const char* panel : {"Experiment", "Latency", "Shared memory", "Error"})
        ctx->ItemClick((std::string("//") + panel + "/**/###again").c_str(), 0, ImGuiTestOpFlags_NoError);
    });
  }
  expect_as_recorded("stages");
}

// A picked run, notes and stars, a pinned A, and the comparison beside them.
TEST_F(Tour, OfAPickedRunAndAComparison) {
  session::Snapshot snapshot = snapshot_after({"minimal", "m32_w4", "m64_w4", "m32_w8", "m32_w2"});
  snapshot.selected = snapshot.history.at(1);
  session::RunNotes notes;
  notes[hash_of(snapshot.history.at(1).observation->experiment)] = {true, "for the talk"};
  notes[hash_of(snapshot.history.at(3).observation->experiment)] = {false, "slow"};
  snapshot.notes = session::share(std::move(notes));
  open(std::move(snapshot), {1600, 900});
  hover("picked", "//History", {50, 20});
  click("picked", "//History");
  stop("compare", [](ImGuiTestContext* ctx) { ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_D); });
  hover("compared", "//History", {50, 20});
  for (const char* panel : kReadouts) hover(panel, std::string("//") + panel, {60, 30});
  stop("a run's menu", [](ImGuiTestContext* ctx) {
    ctx->ItemClick("//History/runs/$$4/###run", ImGuiMouseButton_Right, ImGuiTestOpFlags_NoError);
  });
  expect_as_recorded("picked");
}

TEST_F(Tour, OfSeveralWorkers) {
  session::Snapshot snapshot = snapshot_after({"m32_w4", "m32_w8"});
  const std::vector<DeviceSpec> devices = *snapshot.devices;
  const auto worker = [&](const char* name, session::WorkerState state, session::LinkTrouble trouble) {
    session::WorkerStatus made;
    made.name = name;
    made.state = state;
    made.detail = "it says why";
    made.devices = devices;
    made.command = {"ssh", name, "attnscope", "worker"};
    made.remote = true;
    made.trouble = trouble;
    return made;
  };
  using enum session::WorkerState;
  using session::LinkTrouble;
  snapshot.workers.front().state = busy;
  snapshot.workers.front().detail = "emulating tiled, 43 of 128 CTAs";
  snapshot.workers.front().gpus = {{"cuda:0", 1980, 650, 700, 71, {"power cap"}}};
  snapshot.workers.push_back(worker("a", ready, LinkTrouble::none));
  snapshot.workers.back().round_trip_ms = 12;
  snapshot.workers.push_back(worker("b", starting, LinkTrouble::none));
  snapshot.workers.back().waits = true;
  for (const auto trouble : {LinkTrouble::no_program, LinkTrouble::unreachable, LinkTrouble::no_worker,
                             LinkTrouble::other_version, LinkTrouble::silent, LinkTrouble::ended})
    snapshot.workers.push_back(worker(("w" + std::to_string(int(trouble))).c_str(),
                                      trouble == LinkTrouble::silent ? restarting : lost, trouble));
  open(std::move(snapshot), {1600, 900}, ThemeMode::light);
  hover("status", "//##status", {40, 10});
  click("status", "//##status");
  opens_ = [](ImGuiTestContext* ctx) {
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_W);
    ctx->Yield(6);
  };
  hover("workers", "//Workers", {60, 20});
  click("workers", "//Workers");
  expect_as_recorded("workers");
}

TEST_F(Tour, OfTheDialogs) {
  session::Snapshot snapshot = snapshot_after({"m32_w4", "m32_w8"});
  session::PresetItem shipped{"As it starts", "/presets/start.json", "Defaults", "A note.", false, {}},
      own{"Mine", "/mine/mine.json", "Yours", "", true, snapshot.focus.wanted};
  snapshot.presets = session::share(std::vector<session::PresetItem>{shipped, own});
  snapshot.sessions = session::share(std::vector<session::SavedSession>{
      {"Monday", "/s/monday.json", "A note.", "tiled"}, {"Tuesday", "/s/tuesday.json", "", "minimal"}});
  snapshot.deleted_sessions = session::share(std::vector<session::SavedSession>{{"Old", "/s/old.json", "", "tiled"}});
  snapshot.opened.number = 1;
  snapshot.opened.title = "Monday";
  snapshot.opened.path = "/s/monday.json";
  open(std::move(snapshot), {1280, 720});
  const auto tour = [&](const char* id, const std::string& window, const std::vector<std::string>& skip = {}) {
    opens_ = [this, id](ImGuiTestContext* ctx) {
      bench_->actions().find(id)->run();
      ctx->Yield(8);
    };
    hover(id, window, {80, 24});
    click(id, window, skip);
  };
  tour("presets", "//Presets");
  tour("sessions", "//Sessions");
  tour("shortcuts", "//Commands");
  tour("glossary", "//Glossary");
  tour("found", "//What was found");
  tour("about", "//About attnscope");
  expect_as_recorded("dialogs");
}

TEST_F(Tour, OfALesson) {
  open(snapshot_after({"m32_w4", "m32_w8"}), {1280, 720}, ThemeMode::light);
  stop("open", [&](ImGuiTestContext*) {
    EXPECT_TRUE(bench_->open_lesson("04_idle_warps"));
    bench_->open_panel("Lessons");
  });
  hover("lesson", "//Lessons", {60, 24});
  click("lesson", "//Lessons");
  expect_as_recorded("lesson");
}

TEST_F(Tour, OfTheSweepsSetup) {
  open(snapshot_after({"m32_w4", "m32_w8"}), {1600, 900});
  stop("open", [&](ImGuiTestContext* ctx) {
    bench_->open_panel("Sweep");
    ctx->Yield(8);
    wait(
        ctx, [&](const session::Snapshot&) { return !bench_->sweep().counts(); }, "the count of the configs");
  });
  hover("sweep", "//Sweep", {60, 20});
  expect_as_recorded("sweep");
}

TEST_F(Tour, OfWhatThereIsAtFirst) {
  session::Snapshot nothing;
  nothing.version = 1;
  open(std::move(nothing), {1280, 720});
  for (const char* panel : {"Experiment", "Latency", "Shared memory", "Error", "History", "Source", "Why", "Timeline",
                            "Counters", "Attention", "Sweep", "Log"}) {
    stop(panel, [&](ImGuiTestContext*) { bench_->open_panel(panel); });
    hover(panel, std::string("//") + panel, {100, 40});
  }
  session::Snapshot first = snapshot_after({"m32_w4"});
  first.first_start = true;
  first.invite = {{"NUM_WARPS", 8}};
  open(std::move(first), {1280, 720});
  hover("first start", "//Experiment", {60, 24});
  stop("what it invites to", [&](ImGuiTestContext* ctx) { ctx->ItemClick("//Experiment/NUM_WARPS/8"); });
  expect_as_recorded("at_first");
}

TEST_F(Tour, OfTheLog) {
  session::Snapshot snapshot = snapshot_after({"m32_w4"});
  using session::LogLevel;
  snapshot.log = session::share(std::vector<session::LogLine>{{1000035000, LogLevel::info, "It began."},
                                                              {1000035060, LogLevel::warning, "It is slow."},
                                                              {1000035120, LogLevel::error, "It failed."}});
  open(std::move(snapshot), {1280, 720}, ThemeMode::light);
  stop("open", [&](ImGuiTestContext*) { bench_->open_panel("Log"); });
  hover("log", "//Log", {80, 20});
  click("log", "//Log");
  expect_as_recorded("log");
}

}  // namespace
}  // namespace attnscope::ui
