#include "ui/offscreen.h"

#include <glad/glad.h>
// GLFW must come after the OpenGL loader.
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>
#include <implot/implot.h>

#include <algorithm>

#include "platform/clock.h"
#include "ui/theme.h"

namespace attnscope::ui {
namespace {

// GLFW reports errors through this; the caller's Failure describes them in one sentence.
void quiet(int, const char*) {}

GLFWwindow* hidden_window(bool null_platform) {
  glfwInitHint(GLFW_PLATFORM, null_platform ? GLFW_PLATFORM_NULL : GLFW_ANY_PLATFORM);
  const bool ready = glfwInit() == GLFW_TRUE;
  glfwInitHint(GLFW_PLATFORM, GLFW_ANY_PLATFORM);
  if (!ready) return nullptr;
  glfwDefaultWindowHints();
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
  if (null_platform) glfwWindowHint(GLFW_CONTEXT_CREATION_API, GLFW_EGL_CONTEXT_API);
  GLFWwindow* window = glfwCreateWindow(64, 64, "attnscope", nullptr, nullptr);
  if (window == nullptr) glfwTerminate();
  return window;
}

// Whether the frame calls someone while it is drawn.
bool has_callback(const ImDrawData& drawn) {
  return std::ranges::any_of(drawn.CmdLists, [](const ImDrawList* list) {
    return std::ranges::any_of(list->CmdBuffer, [](const ImDrawCmd& one) { return one.UserCallback != nullptr; });
  });
}

}  // namespace

void configure_imgui() {
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.IniSavingRate = 1.0f;
  io.ConfigFlags |= ImGuiConfigFlags_DockingEnable | ImGuiConfigFlags_NavEnableKeyboard;
  io.ConfigInputTextCursorBlink = false;  // so that an idle window draws nothing
  io.ConfigWindowsMoveFromTitleBarOnly = true;
  io.ConfigErrorRecoveryEnableAssert = false;
}

Result<void> Offscreen::open_context() {
  glfwSetErrorCallback(quiet);
  window_ = hidden_window(true);
  if (window_ == nullptr) window_ = hidden_window(false);
  if (window_ == nullptr)
    return fail(
        Stage::input, "OpenGL 3.3 is not available without a display here",
        "Install a software OpenGL (Debian and Ubuntu: libgl1-mesa-dri and libegl1), or run it under xvfb-run.");
  glfwMakeContextCurrent(window_);
  if (gladLoadGLLoader(reinterpret_cast<GLADloadproc>(glfwGetProcAddress)) == 0)
    return fail(Stage::input, "The OpenGL driver lacks functions of OpenGL 3.3",
                "Update the driver, or install libgl1-mesa-dri.");
  return {};
}

Result<void> Offscreen::make_framebuffer() {
  GLint largest = 0;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &largest);
  if (size_.width > largest || size_.height > largest)
    return fail(Stage::input,
                "A picture of " + std::to_string(size_.width) + "x" + std::to_string(size_.height) +
                    " is larger than OpenGL's " + std::to_string(largest),
                "Ask for a smaller size.");
  glGenTextures(1, &colour_);
  glBindTexture(GL_TEXTURE_2D, colour_);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, size_.width, size_.height, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glGenFramebuffers(1, &framebuffer_);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, colour_, 0);
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
    return fail(Stage::internal, "OpenGL cannot make a framebuffer of the picture's size", "Ask for a smaller size.");
  return {};
}

Result<std::unique_ptr<Offscreen>> Offscreen::create(ShotSize size, const std::filesystem::path& resources) {
  if (size.width < 320 || size.height < 240 || size.width > 16384 || size.height > 16384)
    return fail(
        Stage::input,
        "A picture of " + std::to_string(size.width) + "x" + std::to_string(size.height) + " cannot hold the window",
        "Use a size between 320x240 and 16384x16384, such as 1600x900.");
  std::unique_ptr<Offscreen> made(new Offscreen());
  made->size_ = size;
  if (Result<void> opened = made->open_context(); !opened) return fail(opened.error());
  if (Result<void> framed = made->make_framebuffer(); !framed) return fail(framed.error());
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImPlot::CreateContext();
  made->imgui_ = true;
  configure_imgui();
  ImGui::GetIO().BackendPlatformName = "attnscope offscreen";
  ImGui_ImplOpenGL3_Init("#version 330");
  apply_theme(ThemeMode::dark);
  (void)load_fonts(resources / "assets");  // Dear ImGui's default font replaces a missing one
  made->last_frame_ms_ = platform::steady_ms();
  return made;
}

Offscreen::~Offscreen() {
  if (imgui_) {
    ImGui_ImplOpenGL3_Shutdown();
    ImPlot::DestroyContext();
    ImGui::DestroyContext();
  }
  if (window_ == nullptr) return;
  if (framebuffer_ != 0) glDeleteFramebuffers(1, &framebuffer_);
  if (colour_ != 0) glDeleteTextures(1, &colour_);
  glfwDestroyWindow(window_);
  glfwTerminate();
}

void Offscreen::begin_frame() {
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(size_.width), static_cast<float>(size_.height)};
  const double now = platform::steady_ms();
  io.DeltaTime = std::clamp(f32((now - last_frame_ms_) / 1000), 1e-4f, 0.5f);
  last_frame_ms_ = now;
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
}

void Offscreen::end_frame(bool rasterise) {
  ImGui::Render();
  ImDrawData* const drawn = ImGui::GetDrawData();
  if (!rasterise && !has_callback(*drawn)) {
    for (ImTextureData* texture : *drawn->Textures)
      if (texture->Status != ImTextureStatus_OK) ImGui_ImplOpenGL3_UpdateTexture(texture);
    return;
  }
  if (!rasterise) glEnable(GL_RASTERIZER_DISCARD);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  glViewport(0, 0, size_.width, size_.height);
  const ImVec4 clear = as_vec(palette().window);
  glClearColor(clear.x, clear.y, clear.z, 1);
  if (rasterise) glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(drawn);
  if (!rasterise) glDisable(GL_RASTERIZER_DISCARD);
}

std::vector<uint8_t> Offscreen::pixels() const {
  const size_t line = static_cast<size_t>(size_.width) * 3, lines = static_cast<size_t>(size_.height);
  std::vector<uint8_t> upside_down(line * lines), out(line * lines);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, size_.width, size_.height, GL_RGB, GL_UNSIGNED_BYTE, upside_down.data());
  for (size_t y = 0; y < lines; ++y)
    std::copy_n(upside_down.begin() + static_cast<std::ptrdiff_t>((lines - 1 - y) * line), line,
                out.begin() + static_cast<std::ptrdiff_t>(y * line));
  return out;
}

}  // namespace attnscope::ui
