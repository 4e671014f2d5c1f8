#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/result.h"
#include "session/session.h"

namespace attnscope::ui {

class Workbench;

// One frame as the window made it.
struct FrameTime {
  double begin_ms = 0;      // platform::steady_ms(), after the wait for an event
  double build_ms = 0;      // making its draw list; rasterising and the swap apart
  double build_cpu_ms = 0;  // of build_ms, what the thread itself ran
  double shown_ms = 0;      // platform::steady_ms() after the swap
};

struct WindowOptions {
  std::filesystem::path resources;     // holds assets/ and shaders/
  std::filesystem::path user_presets;  // where "save as" proposes to put a preset; empty: it proposes nothing
  std::optional<bool> light;           // overrides the kept theme
  // For benchmarks and tests: before each frame is made, and after it was shown.
  std::function<void(Workbench&)> before_frame;
  std::function<void(const FrameTime&)> after_frame;
};

// Wakes the window from any thread: it draws a frame and looks at the newest snapshot. The session's on_change leads
// here.
void wake();

// Closes the window that run_window opened, at its next frame. Any thread may call it.
void request_close();

// Whether a window can be opened here: a display that GLFW can reach and OpenGL 3.3 on it. The Failure (Stage::input)
// says what is missing and what to do instead.
Result<void> probe_display();

// Opens the window on the calling thread, which must be the program's first, and returns when it is closed: the
// program's exit status. Calls probe_display() itself; without a display it writes the Failure to the log and
// returns 2.
int run_window(session::Session& session, const WindowOptions& options);

struct ShotSize {
  int width = 1600, height = 900;  // pixels
};

struct ShotOptions {
  std::filesystem::path resources;
  bool light = false;
  float zoom = 1.0f;
  int patience_ms = 60000;  // how long to wait for the experiment and its map
};

// Draws the window without a display, into a framebuffer of exactly that size, once the focus experiment is complete
// and its map drawn, and writes it as PNG. A run that fails is drawn as the window shows it: that is no Failure of the
// picture. Failures: no OpenGL without a display, the experiment not ready within the patience, the file cannot be
// written.
Result<void> shot(session::Session& session, const std::filesystem::path& file, ShotSize size,
                  const ShotOptions& options);

}  // namespace attnscope::ui
