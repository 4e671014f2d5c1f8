// The window on a display, with Hello ImGui's runner; under Xvfb if there is no display (see CMakeLists.txt).
#include <signal.h>

#include <cstdlib>

#include <nlohmann/json.hpp>

#include "platform/termination.h"
#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

class Display : public WindowFlow {
 protected:
  void SetUp() override {
    if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) GTEST_SKIP() << "no display";
  }
};

TEST_F(Display, TheWindowOpensDrawsTheFirstRunAndCloses) {
  auto session = session::Session::start(options_, [] { wake(); });
  ASSERT_TRUE(session) << session.error().message;
  WindowOptions options;
  options.resources = ATTNSCOPE_SOURCE_DIR;
  int frames = 0;
  options.after_frame = [&](const FrameTime& frame) {
    ++frames;
    EXPECT_GE(frame.shown_ms, frame.begin_ms + frame.build_ms);
    const auto snapshot = (*session)->snapshot();
    if (snapshot->focus.shown && !snapshot->focus.running) request_close();
  };
  EXPECT_EQ(run_window(**session, options), 0);
  EXPECT_GT(frames, 0);
  EXPECT_TRUE((*session)->snapshot()->focus.shown);
  (*session)->stop();
}

TEST_F(Display, ASignalToEndLosesNoChange) {
  auto session = session::Session::start(options_, [] { wake(); });
  ASSERT_TRUE(session) << session.error().message;
  WindowOptions options;
  options.resources = ATTNSCOPE_SOURCE_DIR;
  bool changed = false;
  options.after_frame = [&](const FrameTime&) {
    if (std::exchange(changed, true)) return;
    (*session)->set_setting("made", "at the last moment");
    raise(SIGTERM);
  };
  {
    const platform::OnTermination ended([] { request_close(); });
    EXPECT_EQ(run_window(**session, options), 0);
  }
  (*session)->stop();
  const Json kept = Json::parse(testing_support::read_text(options_.state_dir / "settings.json"));
  EXPECT_EQ(kept["made"], "at the last moment");
  EXPECT_TRUE(std::filesystem::exists(options_.state_dir / "journal.json"));
}

TEST(NoDisplay, IsAClearFailure) {
  const char* x11 = std::getenv("DISPLAY");
  const std::string display = x11 != nullptr ? x11 : "";
  const char* wayland = std::getenv("WAYLAND_DISPLAY");
  const std::string wayland_display = wayland != nullptr ? wayland : "";
  unsetenv("DISPLAY");
  unsetenv("WAYLAND_DISPLAY");
  const Result<void> probed = probe_display();
  if (!display.empty()) setenv("DISPLAY", display.c_str(), 1);
  if (!wayland_display.empty()) setenv("WAYLAND_DISPLAY", wayland_display.c_str(), 1);
  ASSERT_FALSE(probed);
  EXPECT_EQ(probed.error().stage, Stage::input);
  EXPECT_NE(probed.error().hint.find("attnscope shot"), std::string::npos);
}

}  // namespace
}  // namespace attnscope::ui
