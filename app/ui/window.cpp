// The window on a display, around the workbench.
#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <implot/implot.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "platform/clock.h"
#include "platform/memory.h"
#include "platform/paths.h"
#include "ui/app.h"
#include "ui/display/display_loss.h"
#include "ui/onscreen.h"
#include "ui/theme.h"
#include "ui/wake.h"
#include "ui/workbench.h"

namespace attnscope::ui {
namespace {

constexpr int kBadInput = 2;           // the program's exit status for "no display"
constexpr int kEnded = 4;              // the exit status for a display that went away
constexpr int kFirstSnapshotMs = 300;  // how long the first frame may wait for saved settings
// After a new snapshot, because windows get their size in one frame and draw in the next.
constexpr int kSettlingFrames = 2;
constexpr int kEventFrames = 4;  // after input, because press, release and what a click opens each take a frame

// State shared with GLFW's callbacks, which reach it through g_host, because Dear ImGui uses GLFW's user pointer.
struct Host {
  session::Session& session;
  const WindowOptions& options;
  Onscreen& screen;
  std::unique_ptr<Workbench> bench = nullptr;
  bool closing = false;
  uint64_t seen_version = 0;
  int settling = 0;
  FrameTime frame = {};  // the one being built
  double frame_cpu_begin = 0;
};
Host* g_host = nullptr;
std::atomic<bool> g_close_asked = false;  // set by any thread

void on_drop(GLFWwindow*, int count, const char** paths) {
  for (int at = 0; g_host != nullptr && at < count; ++at) g_host->bench->drop(paths[at]);
  wake();
}

// A window that is dragged to another screen takes that screen's scale.
void on_content_scale(GLFWwindow*, float, float) {
  if (g_host == nullptr) return;
  const float scale = g_host->screen.scale();
  if (scale <= 0) return;
  ImGui::GetStyle().FontScaleDpi = scale;
  apply_theme(theme_mode());
  wake();
}

void wait_for_settings(session::Session& session) {
  const double deadline = platform::steady_ms() + kFirstSnapshotMs;
  while (session.snapshot()->version == 0 && platform::steady_ms() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

WindowSettings kept_settings(const session::Snapshot& snapshot) {
  if (!snapshot.settings || !snapshot.settings->contains(kSettingsKey)) return {};
  return window_settings_from_json((*snapshot.settings)[kSettingsKey]);
}

void before_frame(Host& host) {
  const uint64_t version = host.session.snapshot()->version;
  if (version != host.seen_version) {
    host.seen_version = version;
    host.settling = std::max(host.settling, kSettlingFrames);
  }
  // Dear ImGui spreads queued input over frames. After a frame that takes longer than the window stays awake after
  // input, it would sleep with input still queued, and a click would be lost until the next one.
  if (!ImGui::GetCurrentContext()->InputEventsQueue.empty()) host.settling = std::max(host.settling, kEventFrames);
  if (host.settling > 0) {
    --host.settling;
    host.screen.keep_awake();
  }
  if (host.options.before_frame) host.options.before_frame(*host.bench);
  host.frame = {};
  host.frame.begin_ms = platform::steady_ms();
  host.frame_cpu_begin = platform::thread_cpu_ms();
  host.bench->before_frame();
}

// Dear ImGui's draw lists are complete at this point; OpenGL's work follows.
void note_built(Host& host) {
  host.frame.build_ms = platform::steady_ms() - host.frame.begin_ms;
  host.frame.build_cpu_ms = platform::thread_cpu_ms() - host.frame_cpu_begin;
}

void watch_frames(Host& host) {
  ImGuiContextHook built;
  built.Type = ImGuiContextHookType_RenderPost;
  built.UserData = &host;
  built.Callback = [](ImGuiContext*, ImGuiContextHook* hook) { note_built(*static_cast<Host*>(hook->UserData)); };
  ImGui::AddContextHook(ImGui::GetCurrentContext(), &built);
}

void keep_geometry(Host& host) {
  GLFWwindow* window = host.screen.window();
  if (glfwGetWindowAttrib(window, GLFW_MAXIMIZED)) return;
  const auto chosen = host.screen.chosen_size();
  if (!chosen) return;
  host.bench->settings().width = chosen->width;
  host.bench->settings().height = chosen->height;
}

void make_bench(Host& host, WakeTimer& timer) {
  WorkbenchOptions options;
  options.resources = host.options.resources;
  options.user_presets = host.options.user_presets;
  options.own_lessons = host.options.own_lessons;
  options.results = host.options.results;
  options.profiling = host.options.profiling;
  options.profiler = host.options.profiler;
  options.wake_within = [&timer](double seconds) { timer.within(seconds); };
  if (const auto program = platform::own_executable()) options.program = program->string();
  options.wake = [] { wake(); };
  options.quit = [&host] { host.closing = true; };
  host.bench = std::make_unique<Workbench>(host.session, std::move(options));
  if (host.options.light) host.bench->settings().theme = *host.options.light ? ThemeMode::light : ThemeMode::dark;
}

void draw_until_closed(Host& host) {
  while (!host.closing) {
    host.screen.wait();
    host.closing |= host.screen.closing() || g_close_asked.exchange(false);
    before_frame(host);
    host.screen.begin_frame();
    host.bench->draw();
    host.screen.end_frame();
    if (!host.options.after_frame) continue;
    host.frame.shown_ms = platform::steady_ms();
    host.options.after_frame(host.frame);
  }
}

}  // namespace

void request_close() {
  g_close_asked = true;
  wake();
}

int run_window(session::Session& session, const WindowOptions& options) {
  platform::give_back_freed_memory();
  const auto screen = Onscreen::create("attnscope");
  if (!screen) {
    spdlog::error("{}. {}", screen.error().message, screen.error().hint);
    return kBadInput;
  }
  on_display_loss([&session](const std::string& reason) {
    g_host = nullptr;
    spdlog::error("{}. Your work is saved; start attnscope again where there is a display.", reason);
    session.stop();  // ends the workers and writes pending data
    std::_Exit(kEnded);
  });
  Host host{session, options, **screen};
  WakeTimer timer([] { wake(); });
  if (const Result<void> loaded = load_fonts(options.resources / "assets"); !loaded)
    session.note(session::LogLevel::warning, loaded.error().message + ". The window uses a plain font.");
  ImPlot::CreateContext();
  if (options.after_frame) watch_frames(host);
  wait_for_settings(session);
  const WindowSettings kept = kept_settings(*session.snapshot());
  host.screen.resize({kept.width, kept.height});
  make_bench(host, timer);
  g_host = &host;
  glfwSetDropCallback(host.screen.window(), on_drop);
  glfwSetWindowContentScaleCallback(host.screen.window(), on_content_scale);
  draw_until_closed(host);
  g_host = nullptr;
  keep_geometry(host);
  host.bench->keep_settings_now();
  host.bench.reset();
  ImPlot::DestroyContext();
  g_close_asked = false;  // set again while this window closed; the next one stays open
  return 0;
}

}  // namespace attnscope::ui
