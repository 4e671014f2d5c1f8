#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <imgui.h>
// The test engine must come after Dear ImGui.
#include <imgui_test_engine/imgui_te_context.h>
#include <imgui_test_engine/imgui_te_engine.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "session/session.h"
#include "support/temp_dir.h"
#include "ui/drawing.h"
#include "ui/offscreen.h"
#include "ui/workbench.h"

namespace attnscope::ui {

// The window's content over a session, without a display. A flow presses keys and clicks items as a user would; it
// waits for conditions, with a limit far beyond any real wait.
class WindowFlow : public testing::Test {
 protected:
  WindowFlow();
  ~WindowFlow() override;

  // Call before open(): the worker's behaviour, see tests/support/fake_worker.cpp.
  void fake_worker(std::vector<std::string> behaviour);
  void real_worker();
  // Writes a copy of that shipped lesson with a small problem, so that its runs take milliseconds, and returns its id.
  // `attnscope lesson check` runs the shipped one. Problems that are not attention stay as they are.
  std::string small_lesson(const std::string& id, const std::string& problem = "H=1,S=128") const;
  void open(ShotSize size = {1600, 900});
  // Another window over the same session, as after a restart that lost the layout.
  void open_window(ShotSize size);
  void close_window();
  void close();

  // Draws once.
  void frame();
  // Runs `steps` in the test engine, frame by frame, until they end.
  void flow(const std::function<void(ImGuiTestContext*)>& steps);
  // Call only within a flow.
  bool wait(ImGuiTestContext* ctx, const std::function<bool(const session::Snapshot&)>& condition, const char* what);
  bool wait_for_run(ImGuiTestContext* ctx, const char* knob, int64_t value);
  // All text of the next frame, panel by panel; a line of a table is one line.
  std::string drawn_words(ImGuiTestContext* ctx);
  // What the next frame draws in the parts whose names begin with `prefix`.
  Drawing drawn(ImGuiTestContext* ctx, const std::string& prefix = "");

  std::shared_ptr<const session::Snapshot> now() const { return session_->snapshot(); }
  size_t runs() const;  // number of runs requested from the fake worker

  testing_support::TempDir dir_;
  session::SessionOptions options_;
  std::optional<session::SessionOptions> profiling_;  // what the window profiles with; set before open_window()
  bool quit_ = false;                                 // the window was asked to close itself
  std::set<double> wakes_;                            // within how many seconds a frame was asked for
  std::unique_ptr<session::Session> session_;
  std::unique_ptr<Offscreen> screen_;
  std::function<void()> after_frame_;  // called when a frame is complete
  bool rasterises_ = false;            // frames have pixels, which cost more than all else in them
  std::unique_ptr<Workbench> bench_;
  ImGuiTestEngine* engine_ = nullptr;

 private:
  bool listening_ = false;  // collects the next frame's text
  std::string heard_;
  std::optional<std::string> looking_;  // describes the next frame, its parts of that prefix
  Drawing seen_;
};

}  // namespace attnscope::ui
