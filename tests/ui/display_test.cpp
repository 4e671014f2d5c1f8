// The window on a display, with Hello ImGui's runner; under Xvfb if there is no display (see CMakeLists.txt).
#include <signal.h>

#include <cstdlib>

#include <nlohmann/json.hpp>

#include "cuda_api/shared_library.h"
#include "platform/termination.h"
#include "ui/display/display_loss.h"
#include "ui/window_flow.h"
// Included last, because Xlib defines words such as None and Success.
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <X11/Xlib.h>

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

TEST_F(Display, ItsLossAndItsRefusalsReachTheProgram) {
  ASSERT_EQ(glfwInit(), GLFW_TRUE);
  if (glfwGetPlatform() != GLFW_PLATFORM_X11) {
    glfwTerminate();
    GTEST_SKIP() << "not an X display";
  }
  auto xlib = cuda_api::SharedLibrary::open("libX11.so.6");
  decltype(XSetIOErrorHandler)* set_lost = nullptr;
  decltype(XSetErrorHandler)* set_refused = nullptr;
  ASSERT_TRUE(xlib && xlib->load("XSetIOErrorHandler", set_lost) && xlib->load("XSetErrorHandler", set_refused));
  set_lost(nullptr), set_refused(nullptr);  // Xlib's own
  std::vector<std::string> reasons;
  on_display_loss([&](const std::string& reason) { reasons.push_back(reason); });
  const auto lost = set_lost(nullptr);
  const auto refused = set_refused(nullptr);
  ASSERT_NE(lost, set_lost(nullptr));
  ASSERT_NE(refused, set_refused(nullptr));
  lost(nullptr);
  XErrorEvent event{};
  event.error_code = 3, event.request_code = 4, event.minor_code = 5;
  refused(nullptr, &event);
  EXPECT_THAT(reasons,
              testing::ElementsAre("the display went away", "the display refused a request: X error 3 of request 4.5"));
  on_display_loss([](const std::string&) {});
  set_lost(nullptr), set_refused(nullptr);
  glfwTerminate();
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
