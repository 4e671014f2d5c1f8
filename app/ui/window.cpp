// The window on a display: Hello ImGui's runner around the workbench.
#include <GLFW/glfw3.h>
#include <hello_imgui/hello_imgui.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <implot/implot.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "platform/clock.h"
#include "platform/paths.h"
#include "ui/app.h"
#include "ui/display/display_loss.h"
#include "ui/offscreen.h"
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

// State shared by the runner's callbacks. GLFW's callbacks reach it through g_host, because Dear ImGui uses GLFW's user
// pointer.
struct Host {
  session::Session& session;
  const WindowOptions& options;
  std::unique_ptr<Workbench> bench;
  HelloImGui::RunnerParams params;
  uint64_t seen_version = 0;
  int settling = 0;
  bool styled = false;
  FrameTime frame;  // the one being built
  double frame_cpu_begin = 0;
};
Host* g_host = nullptr;
std::atomic<bool> g_close_asked = false;  // set by any thread

void on_drop(GLFWwindow*, int count, const char** paths) {
  for (int at = 0; g_host != nullptr && g_host->bench && at < count; ++at) g_host->bench->drop(paths[at]);
  wake();
}

// Hello ImGui reads the scale only at start. This gives a window that is dragged to another screen that screen's scale.
void on_content_scale(GLFWwindow*, float x, float) {
  if (g_host == nullptr || !g_host->styled || x <= 0) return;
  ImGui::GetStyle().FontScaleDpi = x;
  const ThemeMode mode = theme_mode();
  apply_theme(mode);
  if (x > 1.0f) ImGui::GetStyle().ScaleAllSizes(x);
  wake();
}

void wait_for_settings(session::Session& session) {
  const double deadline = platform::steady_ms() + kFirstSnapshotMs;
  while (session.snapshot()->version == 0 && platform::steady_ms() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

void set_geometry(Host& host) {
  HelloImGui::AppWindowParams& window = host.params.appWindowParams;
  window.windowTitle = "attnscope";
  const auto snapshot = host.session.snapshot();
  WindowSettings kept;
  if (snapshot->settings && snapshot->settings->contains(kSettingsKey))
    kept = window_settings_from_json((*snapshot->settings)[kSettingsKey]);
  window.windowGeometry.size = {kept.width, kept.height};
  window.windowGeometry.windowSizeMeasureMode = HelloImGui::WindowSizeMeasureMode::ScreenCoords;
}

void set_runner(Host& host) {
  HelloImGui::RunnerParams& params = host.params;
  params.imGuiWindowParams.defaultImGuiWindowType = HelloImGui::DefaultImGuiWindowType::NoDefaultWindow;
  params.imGuiWindowParams.showMenuBar = params.imGuiWindowParams.showStatusBar = false;
  params.imGuiWindowParams.backgroundColor = as_vec(palette().window);
  params.iniDisable = true;  // the session saves the window's settings
  // More would need a second context and double the idle cost.
  params.rendererBackendOptions.openGlOptions.AntiAliasingSamples = 0;
  params.fpsIdling.fpsIdle = 0.02f;                  // when idle, one frame in 50 s
  params.fpsIdling.timeActiveAfterLastEvent = 0.6f;  // tooltips appear after 0.35 s
  params.fpsIdling.fpsMax = 60.0f;
}

void before_frame(Host& host) {
  if (g_close_asked.exchange(false)) host.params.appShallExit = true;
  const uint64_t version = host.session.snapshot()->version;
  if (version != host.seen_version) {
    host.seen_version = version;
    host.settling = std::max(host.settling, kSettlingFrames);
  }
  // Dear ImGui spreads queued input over frames. Hello ImGui counts only the time since the last event, so after a
  // frame longer than timeActiveAfterLastEvent it would sleep with input still queued, and a click would be lost until
  // the next one.
  if (!ImGui::GetCurrentContext()->InputEventsQueue.empty()) host.settling = std::max(host.settling, kEventFrames);
  if (host.settling > 0) {
    --host.settling;
    HelloImGui::RequestRefresh();
  }
  host.params.imGuiWindowParams.backgroundColor = as_vec(palette().window);
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
  host.params.callbacks.AfterSwap = [&host] {
    host.frame.shown_ms = platform::steady_ms();
    host.options.after_frame(host.frame);
  };
}

void keep_geometry(Host& host) {
  auto* window = static_cast<GLFWwindow*>(host.params.backendPointers.glfwWindow);
  if (window == nullptr || glfwGetWindowAttrib(window, GLFW_MAXIMIZED)) return;
  glfwGetWindowSize(window, &host.bench->settings().width, &host.bench->settings().height);
}

void set_callbacks(Host& host, WakeTimer& timer) {
  HelloImGui::RunnerCallbacks& callbacks = host.params.callbacks;
  callbacks.SetupImGuiConfig = [] { configure_imgui(); };
  callbacks.defaultIconFont = HelloImGui::DefaultIconFont::NoIcons;
  callbacks.LoadAdditionalFonts = [&host] {
    if (const Result<void> loaded = load_fonts(host.options.resources / "assets"); !loaded)
      host.session.note(session::LogLevel::warning, loaded.error().message + ". The window uses a plain font.");
  };
  callbacks.SetupImGuiStyle = [&host] {
    apply_theme(theme_mode());
    host.styled = true;
  };
  callbacks.PostInit_AddPlatformBackendCallbacks = [&host] {
    auto* window = static_cast<GLFWwindow*>(host.params.backendPointers.glfwWindow);
    glfwSetDropCallback(window, on_drop);
    glfwSetWindowContentScaleCallback(window, on_content_scale);
  };
  callbacks.PostInit = [&host, &timer] {
    ImPlot::CreateContext();
    if (host.options.after_frame) watch_frames(host);
    WorkbenchOptions options;
    options.resources = host.options.resources;
    options.user_presets = host.options.user_presets;
    options.own_lessons = host.options.own_lessons;
    options.results = host.options.results;
    options.profiling = host.options.profiling;
    options.wake_within = [&timer](double seconds) { timer.within(seconds); };
    if (const auto program = platform::own_executable()) options.program = program->string();
    options.wake = [] { wake(); };
    options.quit = [&host] { host.params.appShallExit = true; };
    host.bench = std::make_unique<Workbench>(host.session, std::move(options));
    if (host.options.light) host.bench->settings().theme = *host.options.light ? ThemeMode::light : ThemeMode::dark;
  };
  callbacks.PreNewFrame = [&host] { before_frame(host); };
  callbacks.ShowGui = [&host] { host.bench->draw(); };
  callbacks.BeforeExit = [&host] {
    keep_geometry(host);
    host.bench->keep_settings_now();
    host.bench.reset();
    ImPlot::DestroyContext();
  };
}

// The display's name; never empty.
std::string display_names() {
  std::string names;
  for (const char* variable : {"DISPLAY", "WAYLAND_DISPLAY"}) {
    const char* value = std::getenv(variable);
    names += std::string(variable) + "=" + (value != nullptr ? value : "") + "\n";
  }
  return names;
}

}  // namespace

void wake() { HelloImGui::RequestRefresh(); }

void request_close() {
  g_close_asked = true;
  wake();
}

Result<void> probe_display() {
  static std::string reason, passed;
  const std::string display = display_names();
  if (passed == display) return {};  // a probe takes a tenth of a second, and start-up calls it twice
  reason.clear();
  glfwSetErrorCallback([](int, const char* description) { reason = description != nullptr ? description : ""; });
  const std::string hint =
      "Set DISPLAY or WAYLAND_DISPLAY, or use `attnscope run` and `attnscope shot`, which need none.";
  if (glfwInit() != GLFW_TRUE)
    return fail(Stage::input, "No display can be reached" + (reason.empty() ? "" : ": " + reason), hint);
  int monitors = 0;
  glfwGetMonitors(&monitors);
  if (monitors == 0) {
    glfwTerminate();
    return fail(Stage::input, "The display has no screen", hint);
  }
  glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  GLFWwindow* window = glfwCreateWindow(64, 64, "attnscope", nullptr, nullptr);
  const bool good = window != nullptr;
  if (good) glfwDestroyWindow(window);
  if (!good) {
    glfwTerminate();
    return fail(Stage::input, "This display does not support OpenGL 3.3" + (reason.empty() ? "" : ": " + reason),
                "Install the GPU's driver or libgl1-mesa-dri; `attnscope run` and `attnscope shot` need no display.");
  }
  passed = display;  // GLFW stays connected, because an X server may restart when its only client leaves
  return {};
}

int run_window(session::Session& session, const WindowOptions& options) {
  if (const Result<void> display = probe_display(); !display) {
    spdlog::error("{}. {}", display.error().message, display.error().hint);
    return kBadInput;
  }
  Host host{session, options, nullptr, {}, 0, 0, false, {}, 0};
  g_host = &host;
  on_display_loss([&session](const std::string& reason) {
    g_host = nullptr;
    spdlog::error("{}. Your work is saved; start attnscope again where there is a display.", reason);
    session.stop();  // ends the workers and writes pending data
    std::_Exit(kEnded);
  });
  WakeTimer timer([] { wake(); });
  wait_for_settings(session);
  set_geometry(host);
  set_runner(host);
  set_callbacks(host, timer);
  HelloImGui::Run(host.params);
  g_host = nullptr;
  g_close_asked = false;  // set again while this window closed; the next one stays open
  return 0;
}

}  // namespace attnscope::ui
