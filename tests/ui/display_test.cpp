// The window on a display; under Xvfb if there is no display (see CMakeLists.txt).
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cuda_api/shared_library.h"
#include "platform/clock.h"
#include "platform/termination.h"
#include "ui/display/display_loss.h"
#include "ui/window_flow.h"
// Included last, because Xlib defines words such as None and Success.
#define GLFW_INCLUDE_NONE
#define GLFW_EXPOSE_NATIVE_X11
#include <GLFW/glfw3.h>
#include <GLFW/glfw3native.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>

namespace attnscope::ui {
namespace {

class Display : public WindowFlow {
 protected:
  void SetUp() override {
    if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) GTEST_SKIP() << "no display";
  }
};

GLFWwindow* shown_window() { return static_cast<GLFWwindow*>(ImGui::GetMainViewport()->PlatformHandle); }

// The colours that an X server has of the window.
std::set<uint32_t> shown_colours() {
  auto xlib = cuda_api::SharedLibrary::open("libX11.so.6");
  decltype(XGetImage)* get_image = nullptr;
  if (!xlib || !xlib->load("XGetImage", get_image)) return {};
  int width = 0, height = 0;
  glfwGetWindowSize(shown_window(), &width, &height);
  XImage* image = get_image(glfwGetX11Display(), glfwGetX11Window(shown_window()), 0, 0, static_cast<unsigned>(width),
                            static_cast<unsigned>(height), AllPlanes, ZPixmap);
  if (image == nullptr) return {};
  std::set<uint32_t> colours;
  for (int y = 0; y < height; y += 4)
    for (int x = 0; x < width; x += 4) colours.insert(static_cast<uint32_t>(XGetPixel(image, x, y)) & 0xFFFFFF);
  XDestroyImage(image);
  return colours;
}

TEST_F(Display, TheWindowOpensDrawsTheFirstRunAndCloses) {
  auto session = session::Session::start(options_, [] { wake(); });
  ASSERT_TRUE(session) << session.error().message;
  WindowOptions options;
  options.resources = ATTNSCOPE_SOURCE_DIR;
  int frames = 0;
  options.after_frame = [&](const FrameTime& frame) {
    EXPECT_GE(frame.shown_ms, frame.begin_ms + frame.build_ms);
    if (++frames == 1) {
      EXPECT_EQ(glfwGetWindowAttrib(shown_window(), GLFW_VISIBLE), GLFW_TRUE);
      if (glfwGetPlatform() == GLFW_PLATFORM_X11) {
        EXPECT_GT(shown_colours().size(), 10) << "the window appeared empty";
      }
    }
    const auto snapshot = (*session)->snapshot();
    if (snapshot->focus.shown && !snapshot->focus.running) request_close();
  };
  EXPECT_EQ(run_window(**session, options), 0);
  EXPECT_GT(frames, 0);
  EXPECT_TRUE((*session)->snapshot()->focus.shown);
  (*session)->stop();
}

// A person chooses the size by dragging. The size that such a large window gets on these screens is not saved.
TEST_F(Display, OnlyAChosenSizeIsSaved) {
  constexpr int kWide = 16'000;
  std::filesystem::create_directories(options_.state_dir);
  const std::filesystem::path settings = options_.state_dir / "settings.json";
  std::ofstream(settings) << Json{{"window", {{"width", kWide}, {"height", 700}}}};
  for (const bool dragged : {false, true}) {
    auto session = session::Session::start(options_, [] { wake(); });
    ASSERT_TRUE(session) << session.error().message;
    WindowOptions options;
    options.resources = ATTNSCOPE_SOURCE_DIR;
    int frames = 0;
    options.after_frame = [&](const FrameTime&) {
      int width = 0, height = 0;
      glfwGetWindowSize(shown_window(), &width, &height);
      EXPECT_LT(width, kWide);
      if (++frames == 15 && dragged) glfwSetWindowSize(shown_window(), 1000, 600);
      if (frames == 20) return request_close();
      wake();
    };
    EXPECT_EQ(run_window(**session, options), 0);
    (*session)->stop();
    const Json kept = Json::parse(testing_support::read_text(settings))["window"];
    EXPECT_EQ(kept["width"], dragged ? 1000 : kWide);
    EXPECT_EQ(kept["height"], dragged ? 600 : 700);
  }
}

// A press and a release take a frame each. A frame that takes longer than the window stays awake after input must not
// let the window sleep, 50 s at a time, before it handles the rest.
TEST_F(Display, InputThatSlowFramesLeaveQueuedIsStillHandled) {
  auto session = session::Session::start(options_, [] { wake(); });
  ASSERT_TRUE(session) << session.error().message;
  WindowOptions options;
  options.resources = ATTNSCOPE_SOURCE_DIR;
  // Only input keeps the window awake here: the text is typed once the session has nothing more to report.
  std::atomic<bool> typed = false;
  const std::jthread caller([&](const std::stop_token& stop) {
    while (!stop.stop_requested() && !typed) {
      std::this_thread::sleep_for(std::chrono::milliseconds(250));
      wake();
    }
  });
  uint64_t version = 0;
  double changed = 0, begin = 0;
  constexpr int kMostTypings = 5;
  int most_queued = 0, typings = 0;
  options.after_frame = [&](const FrameTime&) {
    const auto snapshot = (*session)->snapshot();
    const double now = platform::steady_ms();
    if (std::exchange(version, snapshot->version) != snapshot->version) changed = now;
    const int queued = ImGui::GetCurrentContext()->InputEventsQueue.Size;
    most_queued = std::max(most_queued, typed ? queued : 0);
    if (typed && queued == 0 && (most_queued > 2 || typings == kMostTypings)) return request_close();
    if (!typed && (!snapshot->focus.shown || snapshot->focus.running || now - changed < 2'000)) return;
    if (queued == 0) {  // also after a change of the keyboard's focus cleared the text
      for (int press = 0; press < 4; ++press)
        for (const bool down : {true, false}) ImGui::GetIO().AddKeyEvent(ImGuiKey_F15, down);
      ++typings;
      begin = now;
      typed = true;
      wake();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
  };
  EXPECT_EQ(run_window(**session, options), 0);
  EXPECT_TRUE(typed);
  EXPECT_GT(most_queued, 2) << "the frames were not given less than was queued";
  EXPECT_LT(platform::steady_ms() - begin, 30'000) << "the window slept on queued input";
  (*session)->stop();
}

// Frames that nothing asks for cost a laptop its battery, and a link of ssh -X its room. A tooltip appears 350 ms after
// the pointer rests, so that the window stays awake for longer than that.
TEST_F(Display, AWindowSleepsWhileNothingHappensAndStaysAwakeAfterInput) {
  auto session = session::Session::start(options_, [] { wake(); });
  ASSERT_TRUE(session) << session.error().message;
  WindowOptions options;
  options.resources = ATTNSCOPE_SOURCE_DIR;
  enum { settling, quiet, rested, typed };
  std::atomic<int> phase = settling;
  const std::jthread caller([&](const std::stop_token& stop) {
    const auto pause = [&](int ms) {
      for (int left = ms; left > 0 && !stop.stop_requested(); left -= 50)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    };
    for (; phase == settling && !stop.stop_requested(); wake()) pause(250);
    pause(3'000);
    phase = rested;
    wake();
    pause(5'000);
    request_close();
  });
  uint64_t version = 0;
  double changed = 0, begin = 0;
  int frames = 0;
  bool awake = false;
  options.after_frame = [&](const FrameTime&) {
    const auto snapshot = (*session)->snapshot();
    const double now = platform::steady_ms();
    if (std::exchange(version, snapshot->version) != snapshot->version) changed = now;
    if (phase == settling && snapshot->focus.shown && !snapshot->focus.running && now - changed > 2'000) {
      phase = quiet;
    } else if (phase == quiet) {
      ++frames;
    } else if (phase == rested) {
      for (const bool down : {true, false}) ImGui::GetIO().AddKeyEvent(ImGuiKey_F15, down);
      phase = typed;
      begin = now;
    } else if (phase == typed && now - begin > 350) {
      awake = now - begin < 4'000;
      request_close();
    }
  };
  EXPECT_EQ(run_window(**session, options), 0);
  EXPECT_GE(phase, rested);
  EXPECT_LE(frames, 10) << "in three seconds in which nothing happened";
  EXPECT_TRUE(awake) << "the window fell asleep before a tooltip appears";
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

// A window in a process of its own, which SIGKILL ends when it has shown a run, a note, a star and a saved session:
// everything shown is already written. The process is this test again; environment variables tell it that it is the one
// to be killed, and where to report that it is ready.
class KilledWindow : public Display {
 protected:
  static constexpr const char *kReady = "ATTNSCOPE_TEST_READY", *kState = "ATTNSCOPE_TEST_STATE";

  // Waits for a run's end, annotates the run and keeps it in a session. One byte reports that all of it is shown.
  void work_until_killed(const std::filesystem::path& state, int ready) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);                   // it does not outlive the test
    EXPECT_EQ(::fcntl(ready, F_SETFD, FD_CLOEXEC), 0);  // its worker does not hold the pipe open
    options_.state_dir = state;
    auto session = session::Session::start(options_, [] { wake(); });
    ASSERT_TRUE(session) << session.error().message;
    WindowOptions options;
    options.resources = ATTNSCOPE_SOURCE_DIR;
    bool asked = false, told = false;
    options.after_frame = [&](const FrameTime&) {
      const auto now = (*session)->snapshot();
      if (!now->focus.shown || now->focus.running || now->history.size == 0) return;
      if (!std::exchange(asked, true)) {
        (*session)->annotate(now->focus.shown->hash, {true, "for the talk"});
        (*session)->save_session("Warps", "second hour", Json::object());
      }
      if (now->notes->size() != 1 || now->sessions->size() != 1 || std::exchange(told, true)) return;
      EXPECT_EQ(::write(ready, "!", 1), 1);
    };
    (void)run_window(**session, options);
    FAIL() << "the window ended by itself";
  }

  // Starts the other process and returns its id once it is ready; 0: it never was.
  pid_t start_the_other(const std::filesystem::path& state) {
    std::array<int, 2> pipe_ends{};
    EXPECT_EQ(::pipe(pipe_ends.data()), 0);
    EXPECT_EQ(::fcntl(pipe_ends[0], F_SETFD, FD_CLOEXEC), 0);
    std::filesystem::create_directories(dir_ / "other");
    const char* const usual = std::getenv("TMPDIR");
    const std::string folder = usual != nullptr ? usual : "";
    ::setenv(kReady, std::to_string(pipe_ends[1]).c_str(), 1);
    ::setenv(kState, state.c_str(), 1);
    ::setenv("TMPDIR", (dir_ / "other").c_str(), 1);  // it cannot clean up after itself
    const std::string only =
        std::string("--gtest_filter=KilledWindow.") + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::string program = "ui_tests", filter = only, output = "--gtest_output=";
    std::array<char*, 4> argv{program.data(), filter.data(), output.data(), nullptr};
    pid_t other = 0;
    EXPECT_EQ(::posix_spawn(&other, "/proc/self/exe", nullptr, nullptr, argv.data(), environ), 0);
    ::unsetenv(kReady);
    ::unsetenv(kState);
    folder.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", folder.c_str(), 1);
    ::close(pipe_ends[1]);
    char byte = 0;
    const ssize_t came = ::read(pipe_ends[0], &byte, 1);  // end of file, if the process ends too soon
    ::close(pipe_ends[0]);
    return came == 1 ? other : 0;
  }
};

TEST_F(KilledWindow, OpensAgainWithItsRunNoteStarAndSession) {
  if (const char* const state = std::getenv(kState)) {
    const char* const given = std::getenv(kReady);
    ASSERT_NE(given, nullptr);
    const std::string_view digits = given;
    int ready = -1;
    std::from_chars(digits.data(), digits.data() + digits.size(), ready);
    return work_until_killed(state, ready);
  }
  const pid_t other = start_the_other(options_.state_dir);
  ASSERT_GT(other, 0) << "the window ended before it was killed";
  ASSERT_EQ(::kill(other, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(other, &status, 0), other);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);

  auto session = session::Session::start(options_, [] { wake(); });
  ASSERT_TRUE(session) << session.error().message;
  WindowOptions options;
  options.resources = ATTNSCOPE_SOURCE_DIR;
  options.after_frame = [&](const FrameTime&) {
    const auto now = (*session)->snapshot();
    if (now->focus.shown && !now->focus.running) request_close();
  };
  EXPECT_EQ(run_window(**session, options), 0);
  const auto now = (*session)->snapshot();
  ASSERT_GE(now->history.size, 1U);
  ASSERT_EQ(now->notes->size(), 1U);
  const auto& [hash, note] = *now->notes->begin();
  EXPECT_EQ(note, (store::RunNote{true, "for the talk"}));
  ASSERT_NE(now->history.at(0).observation, nullptr);
  EXPECT_EQ(now->history.at(0).observation->hash, hash) << "the run that the killed window showed";
  ASSERT_EQ(now->sessions->size(), 1U);
  EXPECT_EQ(now->sessions->front().title, "Warps");
  EXPECT_EQ(now->sessions->front().note, "second hour");
  (*session)->stop();
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
  set_lost(nullptr), set_refused(nullptr);  // Xlib's own error handler
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
