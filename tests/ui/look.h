#pragma once
#include <functional>
#include <optional>
#include <string>

#include "ui/drawing.h"
#include "ui/still_session.h"
#include "ui/window_flow.h"

namespace attnscope::ui {

// How the window looks, compared with tests/data/look: fixed snapshots, so only the window's own code decides. After an
// intended change, look at the window (attnscope shot), write the recordings again and read their diff:
//   ATTNSCOPE_WRITE_LOOK=1 ui_tests --gtest_filter='Look.*'
class Look : public WindowFlow {
 protected:
  void open(session::Snapshot snapshot, ShotSize size, ThemeMode theme, float zoom = 1);
  // What the window draws after `steps`, with the pointer out of the way.
  Drawing drawn_after(const std::function<void(ImGuiTestContext*)>& steps);
  static void expect_as_recorded(const std::string& name) { expect_as_recorded(name, last_frame()); }
  static void expect_as_recorded(const std::string& name, Drawing drawn);
};

// What a window of that size, named "test", draws in its last frame, and the tooltip that `pointer`, from the window's
// upper left corner, brings.
Drawing drawn_in(ImVec2 size, const std::function<void()>& draw, std::optional<ImVec2> pointer = std::nullopt);

}  // namespace attnscope::ui
