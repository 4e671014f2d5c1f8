#include "ui/onscreen.h"

#include <glad/glad.h>
// GLFW must come after the OpenGL loader.
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "platform/clock.h"
#include "platform/paths.h"
#include "ui/offscreen.h"
#include "ui/theme.h"

namespace attnscope::ui {
namespace {

constexpr double kFrameMs = 1000.0 / 60;  // at most 60 frames a second
constexpr double kIdleMs = 50'000;        // from frame to frame while nothing happens
constexpr double kActiveMs = 600;         // after the last input; tooltips appear after 350
constexpr int kTries = 5, kPauseMs = 50;  // for a connection
constexpr int kFirstFrames = 12;          // in which the panels find their places
constexpr float kSmall = 1.0f / 32;       // of the first frame's size
constexpr double kShowMs = 100;           // how long a window may take to become visible

std::string last_error;  // GLFW's
std::atomic<bool> frame_asked = false;
std::mutex waiting_mutex;  // keeps wake() on other threads off a window that closes
bool may_wait = false;

bool is_set(const char* variable) { return !platform::environment(variable).empty(); }

// A desktop that calls its session a Wayland one gets a Wayland window. Elsewhere X comes first: WSLg has both, and a
// shell that ssh -X opened shows its windows where ssh was started and not on that machine's own screen.
bool connect() {
  const bool wayland = platform::environment("XDG_SESSION_TYPE") == "wayland" && is_set("WAYLAND_DISPLAY");
  if (!wayland && is_set("DISPLAY")) {
    glfwInitHint(GLFW_PLATFORM, GLFW_PLATFORM_X11);
    const bool connected = glfwInit() == GLFW_TRUE;
    glfwInitHint(GLFW_PLATFORM, GLFW_ANY_PLATFORM);
    if (connected) return true;
  }
  return glfwInit() == GLFW_TRUE;
}

// GLFW is connected; it stays so only if there is a window.
Result<GLFWwindow*> hidden_window(const char* title) {
  glfwDefaultWindowHints();
  glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  for (const int hint : {GLFW_X11_CLASS_NAME, GLFW_X11_INSTANCE_NAME, GLFW_WAYLAND_APP_ID})
    glfwWindowHintString(hint, title);  // a desktop entry names it
  GLFWwindow* window = glfwCreateWindow(1280, 720, title, nullptr, nullptr);
  if (window != nullptr) return window;
  glfwTerminate();
  return fail(Stage::input, "This display does not support OpenGL 3.3" + (last_error.empty() ? "" : ": " + last_error),
              "Install the GPU's driver or libgl1-mesa-dri; `attnscope run` and `attnscope shot` need no display.");
}

}  // namespace

ShotSize fitting(ShotSize wanted, const std::vector<ShotSize>& screens) {
  const auto holds = [&](const ShotSize& one) { return one.width >= wanted.width && one.height >= wanted.height; };
  if (screens.empty() || std::ranges::any_of(screens, holds)) return wanted;
  const auto area = [](const ShotSize& one) { return int64_t{one.width} * one.height; };
  const ShotSize largest = std::ranges::max(screens, {}, area);
  return {std::min(wanted.width, largest.width), std::min(wanted.height, largest.height)};
}

void wake() {
  frame_asked = true;
  const std::lock_guard lock(waiting_mutex);
  if (may_wait) glfwPostEmptyEvent();
}

Result<void> connect_display() {
  last_error.clear();
  glfwSetErrorCallback([](int, const char* description) { last_error = description != nullptr ? description : ""; });
  const std::string hint =
      "Set DISPLAY or WAYLAND_DISPLAY, or use `attnscope run` and `attnscope shot`, which need none.";
  bool connected = connect();
  // An X server whose last client has left may restart, and refuses others meanwhile.
  for (int tries = 1; !connected && tries < kTries && is_set("DISPLAY"); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(kPauseMs));
    connected = connect();
  }
  if (!connected)
    return fail(Stage::input, "No display can be reached" + (last_error.empty() ? "" : ": " + last_error), hint);
  int monitors = 0;
  glfwGetMonitors(&monitors);
  if (monitors > 0) return {};
  glfwTerminate();
  return fail(Stage::input, "The display has no screen", hint);
}

Result<void> probe_display() {
  if (auto connected = connect_display(); !connected) return connected;
  const auto window = hidden_window("attnscope");
  if (!window) return fail(window.error());
  glfwDestroyWindow(*window);  // GLFW stays connected, because an X server may restart when its only client leaves
  return {};
}

Result<std::unique_ptr<Onscreen>> Onscreen::create(const char* title) {
  if (auto connected = connect_display(); !connected) return fail(connected.error());
  const auto window = hidden_window(title);
  if (!window) return fail(window.error());
  std::unique_ptr<Onscreen> made(new Onscreen());
  made->window_ = *window;
  glfwMakeContextCurrent(*window);
  if (gladLoadGLLoader(reinterpret_cast<GLADloadproc>(glfwGetProcAddress)) == 0)
    return fail(Stage::input, "The OpenGL driver lacks functions of OpenGL 3.3",
                "Update the driver, or install libgl1-mesa-dri.");
  glfwSwapInterval(1);
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  configure_imgui();
  ImGui_ImplGlfw_InitForOpenGL(*window, true);
  glfwSetWindowRefreshCallback(*window, [](GLFWwindow*) { frame_asked = true; });
  glfwSetFramebufferSizeCallback(*window, [](GLFWwindow*, int, int) { frame_asked = true; });
  ImGui_ImplOpenGL3_Init("#version 330");
  made->imgui_ = true;
  ImGui::GetStyle().FontScaleDpi = made->scale();
  const std::lock_guard lock(waiting_mutex);
  may_wait = true;
  return made;
}

Onscreen::~Onscreen() {
  {
    const std::lock_guard lock(waiting_mutex);
    may_wait = false;
  }
  if (imgui_) {
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext();
  }
  if (window_ == nullptr) return;
  glfwDestroyWindow(window_);
  glfwTerminate();
}

bool Onscreen::closing() const { return glfwWindowShouldClose(window_) != 0; }

void Onscreen::resize(ShotSize to) {
  int count = 0;
  GLFWmonitor** monitors = glfwGetMonitors(&count);
  std::vector<ShotSize> screens;
  for (int at = 0; at < count; ++at) {
    ShotSize room;
    glfwGetMonitorWorkarea(monitors[at], nullptr, nullptr, &room.width, &room.height);
    if (room.width > 0 && room.height > 0) screens.push_back(room);
  }
  to = fitting(to, screens);
  glfwSetWindowSize(window_, to.width, to.height);
}

ShotSize Onscreen::size() const {
  ShotSize now;
  glfwGetWindowSize(window_, &now.width, &now.height);
  return now;
}

std::optional<ShotSize> Onscreen::chosen_size() const {
  const ShotSize now = size();
  if (!opened_ || (now.width == opened_->width && now.height == opened_->height)) return {};
  return now;
}

float Onscreen::scale() const { return ImGui_ImplGlfw_GetContentScaleForWindow(window_); }

void Onscreen::wait() {
  const double begin = platform::steady_ms(), since = begin - began_ms_;
  const bool asked = frame_asked.exchange(false), kept = std::exchange(due_, false);
  const bool busy = asked || kept || frames_ < kFirstFrames || ImGui::IsAnyMouseDown() || begin - event_ms_ < kActiveMs;
  // A compositor of Wayland sends an event after every swap, and a frame drawn for it would be followed by the next.
  const bool wayland = glfwGetPlatform() == GLFW_PLATFORM_WAYLAND;
  const auto left_ms = [&] { return kIdleMs - (platform::steady_ms() - began_ms_); };
  const auto due = [&] { return frame_asked || closing() || !ImGui::GetCurrentContext()->InputEventsQueue.empty(); };
  if (!busy && since < kIdleMs) {
    do glfwWaitEventsTimeout(std::max(left_ms(), 1.0) / 1000);
    while (wayland && !due() && left_ms() > 0);
  }
  if (const double early = began_ms_ + kFrameMs - platform::steady_ms(); early > 0.5)
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(early));
  began_ms_ = platform::steady_ms();
  glfwPollEvents();
  if (!ImGui::GetCurrentContext()->InputEventsQueue.empty()) event_ms_ = began_ms_;
}

void Onscreen::begin_frame() {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
}

void Onscreen::draw() {
  int width = 0, height = 0;
  glfwGetFramebufferSize(window_, &width, &height);
  glViewport(0, 0, width, height);
  const ImVec4 clear = as_vec(palette().window);
  glClearColor(clear.x, clear.y, clear.z, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

// OpenGL may lose what is drawn into a window before it is visible, so the first frame is drawn after this. Drawing it
// small first makes the shaders and textures, so that the window need not wait for them when it is visible.
void Onscreen::show() {
  ImVec2& scale = ImGui::GetDrawData()->FramebufferScale;
  const ImVec2 usual = std::exchange(scale, {kSmall, kSmall});
  draw();
  scale = usual;
  glfwShowWindow(window_);
  // Wayland's compositor answers later, and a swap before that shows nothing.
  for (const double begin = platform::steady_ms();
       glfwGetWindowAttrib(window_, GLFW_VISIBLE) == GLFW_FALSE && platform::steady_ms() - begin < kShowMs;)
    glfwWaitEventsTimeout(kShowMs / 1000);
}

void Onscreen::end_frame() {
  ImGui::Render();
  if (frames_ == 0) show();
  draw();
  glfwSwapBuffers(window_);
  if (++frames_ == kFirstFrames) opened_ = size();
}

}  // namespace attnscope::ui
