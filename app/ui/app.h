#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/result.h"
#include "session/session.h"

namespace attnscope::ui {

class Workbench;
struct FilmScript;

// The timing of one frame.
struct FrameTime {
  double begin_ms = 0;      // platform::steady_ms(), after the wait for an event
  double build_ms = 0;      // to build the draw list, without rasterising and the swap
  double build_cpu_ms = 0;  // the thread's CPU time within build_ms
  double shown_ms = 0;      // platform::steady_ms() after the swap
};

struct WindowOptions {
  std::filesystem::path resources;     // contains assets/ and shaders/
  std::filesystem::path user_presets;  // the folder that "save as" proposes; empty: none
  std::filesystem::path own_lessons;   // a folder of lessons; empty: only the shipped ones
  std::filesystem::path results;       // the file in which sweeps store their results; empty: they store none
  std::optional<session::SessionOptions> profiling;  // for workers that read hardware counters; empty: none are read
  // The command that starts the same worker for profiling; empty, or no answer: its counters cannot be read.
  std::function<std::optional<session::WorkerCommand>(session::WorkerCommand)> profiler;
  std::optional<bool> light;  // overrides the saved theme
  // For benchmarks and tests: called before each frame is built, and after it was shown.
  std::function<void(Workbench&)> before_frame;
  std::function<void(const FrameTime&)> after_frame;
};

// Wakes the window from any thread; it then draws a frame and reads the newest snapshot. The session's on_change calls
// this.
void wake();

// Closes the window that run_window() opened, at its next frame. May be called from any thread.
void request_close();

// Checks whether a window can be opened: this needs a display that GLFW can reach, with OpenGL 3.3. The Failure
// (Stage::input) says what is missing and what to do instead.
Result<void> probe_display();

// The first half of it, which takes a tenth of the time. The display stays connected. Before a session is started, it
// refuses what has no display.
Result<void> connect_display();

// Opens the window on the calling thread, which must be the program's first, and returns the program's exit status when
// the window is closed. Where no window can be opened it logs the Failure and returns 2.
int run_window(session::Session& session, const WindowOptions& options);

struct ShotSize {
  int width = 1600, height = 900;  // pixels
};

// A step of a lesson in presenter mode. The steps before it are run through with their first answers.
struct ShotStep {
  std::string lesson;            // lesson id
  size_t step = 1;               // from 1
  std::optional<size_t> answer;  // from 1; empty: the step's question stays open
};

struct ShotOptions {
  std::filesystem::path resources;
  std::filesystem::path own_lessons;  // as in WindowOptions
  std::optional<ShotStep> step;       // empty: the usual window, or with `presents` the shown run
  bool presents = false;              // presenter mode
  std::string panel;                  // title of a panel to bring to the front; empty: the usual layout
  bool only = false;                  // the picture shows only that panel
  int64_t softmax_row = -1;           // the query row whose softmax steps the Source panel shows; -1: none
  int64_t softmax_tile = 1;           // the row's key tile, from 1
  int64_t fragments = 0;              // a source line whose instructions' matrices are shown; 0: none
  bool light = false;
  bool contrast = false;
  float zoom = 1.0f;
  int patience_ms = 60000;  // how long to wait for the experiment and its map
};

// Draws the window without a display into a framebuffer of exactly that size, once the focus experiment is complete and
// its map drawn, and writes it as PNG. A run that fails is drawn as the window shows it and is not a Failure. Failures:
// OpenGL does not work without a display, the experiment is not ready in time, the file cannot be written.
Result<void> shot(session::Session& session, const std::filesystem::path& file, ShotSize size,
                  const ShotOptions& options);

// Films the same window as an animated PNG: the script's acts, or with `step` its lesson from the first step to the
// last, in presenter mode and with the first answer to every question. A wait for a run is cut to at most two seconds.
// Failures: those of shot(), and an act that the window cannot perform.
Result<void> film(session::Session& session, const std::filesystem::path& file, ShotSize size,
                  const ShotOptions& options, const FilmScript& script);

}  // namespace attnscope::ui
