#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "core/result.h"
#include "ui/app.h"

struct GLFWwindow;

namespace attnscope::ui {

// The wanted size if one of the screens has room for it; otherwise as much of it as the largest has.
ShotSize fitting(ShotSize wanted, const std::vector<ShotSize>& screens);

// Dear ImGui and OpenGL in a window on a display. Only one per process at a time, on the program's first thread.
class Onscreen {
 public:
  // A window with a current OpenGL context, and Dear ImGui's context with its settings. Its first frame shows it.
  // Failure (Stage::input): see probe_display().
  static Result<std::unique_ptr<Onscreen>> create(const char* title);
  ~Onscreen();
  Onscreen(const Onscreen&) = delete;
  Onscreen& operator=(const Onscreen&) = delete;

  GLFWwindow* window() const { return window_; }
  bool closing() const;      // a person closed it
  void resize(ShotSize to);  // in screen coordinates; see fitting()
  // The window's size if it changed after the first frames. The size it opened with may come from the screens or the
  // window manager, and is not a person's choice.
  std::optional<ShotSize> chosen_size() const;
  // From Dear ImGui's units to screen coordinates; 1 on Wayland, whose screen coordinates are scaled already.
  float scale() const;

  // Waits until a frame is due: at once while a person acts and after wake(), otherwise long after the last one; never
  // more than 60 a second. Passes what a person did to Dear ImGui.
  void wait();
  // The next frame is due at once, as if a person had acted.
  void keep_awake() { due_ = true; }
  void begin_frame();  // everything up to ImGui::NewFrame
  void end_frame();    // ImGui::Render, and the frame is on the screen

 private:
  Onscreen() = default;
  ShotSize size() const;
  void draw();  // what Dear ImGui has rendered
  void show();

  GLFWwindow* window_ = nullptr;
  bool imgui_ = false, due_ = false;
  int frames_ = 0;
  std::optional<ShotSize> opened_;
  double began_ms_ = 0, event_ms_ = 0;  // of the last frame and of the last input
};

}  // namespace attnscope::ui
