#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/result.h"
#include "ui/app.h"

struct GLFWwindow;

namespace attnscope::ui {

// Dear ImGui and OpenGL without a window on a display: GLFW's null platform with EGL, or a hidden window if that is
// unavailable. Draws into a framebuffer of exactly the requested size. Only one per process at a time, on the program's
// first thread.
class Offscreen {
 public:
  // Sets fonts and styles; a missing font is not a Failure. `resources` contains assets/.
  static Result<std::unique_ptr<Offscreen>> create(ShotSize size, const std::filesystem::path& resources);
  ~Offscreen();
  Offscreen(const Offscreen&) = delete;
  Offscreen& operator=(const Offscreen&) = delete;

  void begin_frame();  // everything up to ImGui::NewFrame
  // ImGui::Render. Without `rasterise` no pixels are drawn, and OpenGL gets nothing but new textures, because a
  // software one would work through each vertex.
  void end_frame(bool rasterise);
  std::vector<uint8_t> pixels() const;  // RGB, rows from the top, of the last rasterised frame
  ShotSize size() const { return size_; }

 private:
  Offscreen() = default;
  Result<void> open_context();
  Result<void> make_framebuffer();

  ShotSize size_;
  GLFWwindow* window_ = nullptr;
  bool imgui_ = false;
  uint32_t framebuffer_ = 0, colour_ = 0;
  double last_frame_ms_ = 0;
};

// Settings that every owner of a Dear ImGui context needs: docking, keyboard navigation, no files written by Dear
// ImGui.
void configure_imgui();

}  // namespace attnscope::ui
