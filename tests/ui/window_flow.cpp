#include "ui/window_flow.h"

#include <imgui_internal.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "platform/clock.h"
#include "support/test_cache.h"

namespace attnscope::ui {
namespace {

constexpr double kNeverMs = 120000;
// Between two frames of a wait: a frame takes several milliseconds of a core that the awaited worker could have.
constexpr std::chrono::milliseconds kLongestPause(20);

std::filesystem::path source() { return ATTNSCOPE_SOURCE_DIR; }

}  // namespace

WindowFlow::WindowFlow() {
  std::filesystem::create_directories(dir_ / "mine");
  options_.kernel_dirs = {source() / "kernels"};
  options_.own_kernels = dir_ / "own";
  options_.preset_dirs = {source() / "presets", dir_ / "mine"};
  options_.assets_dir = source() / "assets";
  options_.state_dir = dir_ / "state";
  options_.watch_files = false;
  fake_worker({});
}

WindowFlow::~WindowFlow() { close(); }

void WindowFlow::fake_worker(std::vector<std::string> behaviour) {
  std::vector<std::string> argv{
      ATTNSCOPE_FAKE_WORKER,       "worker",   "--recordings",   source() / "tests/data/observations", "--devices",
      source() / "assets/devices", "--record", dir_ / "requests"};
  argv.insert(argv.end(), behaviour.begin(), behaviour.end());
  options_.workers = {{"local", std::move(argv)}};
}

// With a home of its own, whose cache is the one that all tests keep.
void WindowFlow::real_worker() {
  const std::filesystem::path home = dir_ / "home", kept = test_cache();
  std::filesystem::create_directories(home);
  std::filesystem::create_directories(kept);
  std::error_code there;  // after an earlier call
  std::filesystem::create_directory_symlink(kept, home / "cache", there);
  options_.workers = {{"local", {"/usr/bin/env", "ATTNSCOPE_HOME=" + home.string(), ATTNSCOPE_PROGRAM, "worker"}}};
}

std::string WindowFlow::small_lesson(const std::string& id, const std::string& problem) const {
  std::ifstream in(source() / "assets/lessons" / (id + ".json"));
  Json lesson = Json::parse(in);
  for (Json& step : lesson["steps"])
    if (!step["run"]["kernel"].get<std::string>().starts_with("gemm")) step["run"]["problem"] = problem;
  std::filesystem::create_directories(dir_ / "lessons");
  std::ofstream(dir_ / "lessons" / (id + "_small.json")) << lesson;
  return id + "_small";
}

void WindowFlow::open(ShotSize size) {
  auto session = session::Session::start(options_, [] {});
  ASSERT_TRUE(session) << session.error().message;
  session_ = std::move(*session);
  open_window(size);
}

void WindowFlow::open_window(ShotSize size) {
  auto screen = Offscreen::create(size, source());
  ASSERT_TRUE(screen) << screen.error().message;
  screen_ = std::move(*screen);
  engine_ = ImGuiTestEngine_CreateContext();
  ImGuiTestEngineIO& io = ImGuiTestEngine_GetIO(engine_);
  io.ConfigRunSpeed = ImGuiTestRunSpeed_Fast;
  io.ConfigLogToTTY = true;
  io.ConfigVerboseLevel = ImGuiTestVerboseLevel_Error;
  io.ConfigVerboseLevelOnError = ImGuiTestVerboseLevel_Info;
  io.ConfigNoThrottle = true;
  io.ConfigWatchdogWarning = io.ConfigWatchdogKillTest = FLT_MAX;  // wait() has its own limit
  ImGuiTestEngine_Start(engine_, ImGui::GetCurrentContext());
  WorkbenchOptions options;
  options.resources = source();
  options.user_presets = dir_ / "mine";
  options.own_lessons = dir_ / "lessons";
  options.program = ATTNSCOPE_PROGRAM;
  options.results = options_.state_dir / "results.sqlite";
  options.profiling = profiling_;
  options.quit = [this] { quit_ = true; };
  options.wake_within = [this](double seconds) { wakes_.insert(seconds); };
  bench_ = std::make_unique<Workbench>(*session_, std::move(options));
}

void WindowFlow::close_window() {
  if (engine_ != nullptr) ImGuiTestEngine_Stop(engine_);
  bench_.reset();
  screen_.reset();  // Dear ImGui's context goes before the engine's
  if (engine_ != nullptr) ImGuiTestEngine_DestroyContext(engine_);
  engine_ = nullptr;
}

void WindowFlow::close() {
  close_window();
  if (session_) session_->stop();
  session_.reset();
}

void WindowFlow::frame() {
  bench_->before_frame();
  screen_->begin_frame();
  if (listening_) ImGui::LogToBuffer();
  bench_->draw();
  if (listening_) heard_ = ImGui::GetCurrentContext()->LogBuffer.c_str();
  listening_ = false;
  screen_->end_frame(rasterises_);
  if (const auto prefix = std::exchange(looking_, {})) seen_ = last_frame(*prefix);
  if (after_frame_) after_frame_();
  ImGuiTestEngine_PostSwap(engine_);
}

void WindowFlow::flow(const std::function<void(ImGuiTestContext*)>& steps) {
  ASSERT_NE(engine_, nullptr) << "open() first";
  ImGuiTest* test = IM_REGISTER_TEST(engine_, "flow", testing::UnitTest::GetInstance()->current_test_info()->name());
  test->TestFunc = [&](ImGuiTestContext* ctx) { steps(ctx); };
  ImGuiTestEngine_QueueTest(engine_, test, ImGuiTestRunFlags_RunFromCommandLine);
  do frame();
  while (!ImGuiTestEngine_IsTestQueueEmpty(engine_));
  EXPECT_EQ(test->Output.Status, ImGuiTestStatus_Success) << "an item of the flow was not found: see the log above";
  ImGuiTestEngine_UnregisterTest(engine_, test);
}

bool WindowFlow::wait(ImGuiTestContext* ctx, const std::function<bool(const session::Snapshot&)>& condition,
                      const char* what) {
  const double limit = platform::steady_ms() + kNeverMs;
  std::chrono::microseconds pause(2000);
  while (!condition(*session_->snapshot())) {
    if (platform::steady_ms() > limit) {
      ADD_FAILURE() << "never came: " << what;
      return false;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min<std::chrono::microseconds>(pause * 3 / 2, kLongestPause);
    ctx->Yield();
  }
  ctx->Yield(4);  // new data is drawn
  return true;
}

bool WindowFlow::wait_for_run(ImGuiTestContext* ctx, const char* knob, int64_t value) {
  return wait(
      ctx,
      [&](const session::Snapshot& s) {
        const auto& knobs = s.focus.wanted.config.knobs;
        const auto held = knobs.find(knob);
        return !s.focus.running && held != knobs.end() && held->second == value && s.focus.shown &&
               s.focus.shown->hash == s.focus.wanted_hash;
      },
      "the end of the run");
}

std::string WindowFlow::drawn_words(ImGuiTestContext* ctx) {
  listening_ = true;
  ctx->Yield();
  return heard_;
}

Drawing WindowFlow::drawn(ImGuiTestContext* ctx, const std::string& prefix) {
  looking_ = prefix;
  ctx->Yield();
  return std::move(seen_);
}

size_t WindowFlow::runs() const {
  std::ifstream file(dir_ / "requests");
  size_t count = 0;
  for (std::string line; std::getline(file, line);) count += line.starts_with("run ") ? 1 : 0;
  return count;
}

}  // namespace attnscope::ui
