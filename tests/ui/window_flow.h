#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <imgui.h>
// The test engine after Dear ImGui.
#include <imgui_test_engine/imgui_te_context.h>
#include <imgui_test_engine/imgui_te_engine.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "session/session.h"
#include "support/temp_dir.h"
#include "ui/offscreen.h"
#include "ui/workbench.h"

namespace attnscope::ui {

// The window's content over a session, without a display. A flow presses keys and clicks items as a person would; its
// waits are on conditions, with a cap far beyond any real wait.
class WindowFlow : public testing::Test {
 protected:
  WindowFlow();
  ~WindowFlow() override;

  // Before open(): the worker's behaviour, see tests/support/fake_worker.cpp.
  void fake_worker(std::vector<std::string> behaviour);
  void real_worker();
  void open(ShotSize size = {1600, 900});
  // Another window over the same session, as after a restart that forgot the layout.
  void open_window(ShotSize size);
  void close_window();
  void close();

  // Runs `steps` in the test engine, frame by frame, until they end.
  void flow(const std::function<void(ImGuiTestContext*)>& steps);
  // Within a flow.
  bool wait(ImGuiTestContext* ctx, const std::function<bool(const session::Snapshot&)>& condition, const char* what);
  bool wait_for_run(ImGuiTestContext* ctx, const char* knob, int64_t value);
  // Every word of the next frame, panel by panel; a line of a table is one line.
  std::string drawn_words(ImGuiTestContext* ctx);

  std::shared_ptr<const session::Snapshot> now() const { return session_->snapshot(); }
  size_t runs() const;  // that the fake worker was asked for

  testing_support::TempDir dir_;
  session::SessionOptions options_;
  std::unique_ptr<session::Session> session_;
  std::unique_ptr<Offscreen> screen_;
  std::unique_ptr<Workbench> bench_;
  ImGuiTestEngine* engine_ = nullptr;

 private:
  void frame();
  bool listening_ = false;  // to the next frame
  std::string heard_;
};

}  // namespace attnscope::ui
