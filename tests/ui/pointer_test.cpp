// A display's own pointer and keyboard, moved by xdotool under a window manager, do what a person opens the window for.
#include <imgui_internal.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/clock.h"
#include "ui/window_flow.h"
// The test engine's own headers need its others first.
#include <imgui_test_engine/imgui_te_internal.h>
#include <imgui_test_engine/imgui_te_utils.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

namespace attnscope::ui {
namespace {

// A program that is found in the PATH and ended with the object.
class Program {
 public:
  explicit Program(std::vector<std::string> argv) {
    std::vector<char*> words;
    for (std::string& word : argv) words.push_back(word.data());
    words.push_back(nullptr);
    if (::posix_spawnp(&id_, words[0], nullptr, nullptr, words.data(), environ) != 0) id_ = 0;
  }
  ~Program() {
    if (id_ == 0) return;
    ::kill(id_, SIGTERM);
    ::waitpid(id_, nullptr, 0);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  // The exit status once it has ended; -1: it was not found, or a signal ended it.
  std::optional<int> ended(int how = WNOHANG) {
    int status = -1;
    if (id_ == 0) return -1;
    const pid_t which = ::waitpid(id_, &status, how);
    if (which == 0) return std::nullopt;
    id_ = 0;
    return which > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int end() { return *ended(0); }
  bool found() const { return id_ != 0; }

 private:
  pid_t id_ = 0;
};

// Where the window's items are. No test runs in the engine, so it sends no input of its own.
class Items {
 public:
  Items() : engine_(ImGuiTestEngine_CreateContext()) {
    ImGuiTestEngine_GetIO(engine_).ConfigLogToTTY = true;
    ImGuiTestEngine_Start(engine_, ImGui::GetCurrentContext());
  }
  // Between two frames. One more frame is drawn before the window closes, and the engine no longer takes part in it.
  void stop() {
    ImGuiTestEngine_Stop(engine_);
    ImGuiTestEngine_UnbindImGuiContext(engine_, ImGui::GetCurrentContext());
    ImGui::GetCurrentContext()->TestEngineHookItems = false;
  }
  ~Items() { ImGuiTestEngine_DestroyContext(engine_); }
  Items(const Items&) = delete;
  Items& operator=(const Items&) = delete;

  void after_frame() { ImGuiTestEngine_PostSwap(engine_); }
  // The middle of what is visible of an item, in the window; none until it was drawn.
  std::optional<ImVec2> middle(const std::string& path) {
    const ImGuiID id = path.starts_with("tab ") ? tab_of(path.substr(4)) : ImHashDecoratedPath(path.c_str());
    const ImGuiTestItemInfo* info = id == 0 ? nullptr : ImGuiTestEngine_FindItemInfo(engine_, id, path.c_str());
    if (info == nullptr || info->ID == 0 || info->RectClipped.GetWidth() < 1 || info->RectClipped.GetHeight() < 1)
      return std::nullopt;
    return info->RectClipped.GetCenter();
  }
  // What a field holds while it is typed into.
  static std::string typed(const std::string& path) {
    const ImGuiInputTextState* const field = ImGui::GetInputTextState(ImHashDecoratedPath(path.c_str()));
    return field == nullptr ? "" : field->TextA.Data;
  }

 private:
  static ImGuiID tab_of(const std::string& panel) {
    const ImGuiWindow* window = ImGui::FindWindowByName(panel.c_str());
    return window == nullptr ? 0 : window->TabId;
  }
  ImGuiTestEngine* engine_;
};

class Pointer : public WindowFlow {
 protected:
  struct Step {
    const char* what;
    std::vector<std::string> at;     // items; xdotool's words get their places by `words`
    std::vector<std::string> words;  // "@0" is the first item's place
    std::function<bool(const session::Snapshot&)> done;
  };

  void SetUp() override {
    if (std::getenv("DISPLAY") == nullptr) GTEST_SKIP() << "no X display";
    manager_.emplace(std::vector<std::string>{"openbox"});
    if (!manager_->found() || Program({"xdotool", "getmouselocation"}).end() != 0)
      GTEST_SKIP() << "no openbox or xdotool";
  }
  void click(const char* what, const std::string& item, std::function<bool(const session::Snapshot&)> done) {
    steps_.push_back({what, {item}, {"mousemove", "@0", "click", "1"}, std::move(done)});
  }
  bool visible(const std::string& item) { return items_->middle(item).has_value(); }
  static std::function<bool(const session::Snapshot&)> ran_with_warps(int64_t count) {
    return [count](const session::Snapshot& s) {
      const auto warps = s.focus.wanted.config.knobs.find("NUM_WARPS");
      return s.focus.shown && !s.focus.running && s.focus.shown->hash == s.focus.wanted_hash &&
             warps != s.focus.wanted.config.knobs.end() && warps->second == count;
    };
  }

  // Goes through the steps in a window over the fake worker.
  void work() {
    auto session = session::Session::start(options_, [] { wake(); });
    ASSERT_TRUE(session) << session.error().message;
    WindowOptions options;
    options.resources = ATTNSCOPE_SOURCE_DIR;
    options.user_presets = dir_ / "mine";
    options.before_frame = [&](Workbench&) {
      if (!items_) items_.emplace();
    };
    double since = platform::steady_ms();
    options.after_frame = [&](const FrameTime&) {
      if (steps_.empty()) return;  // it closes
      items_->after_frame();
      wake();
      const double now = platform::steady_ms();
      if (!hand_ && steps_.front().done(*(*session)->snapshot())) {
        steps_.pop_front();
        since = now;
      } else if (now - since > kNeverMs) {
        ADD_FAILURE() << "never came: " << steps_.front().what;
        steps_.clear();
      } else {
        act(now);
      }
      if (!steps_.empty()) return;
      items_->stop();
      request_close();
    };
    EXPECT_EQ(run_window(**session, options), 0);
    items_.reset();
    (*session)->stop();
  }

  std::deque<Step> steps_;

 private:
  static constexpr double kNeverMs = 60'000, kAgainMs = 8'000;

  // A step is tried again until it is done: the window manager may still be placing the window. Dear ImGui spreads
  // typed text over frames, so the first try gets its time.
  void act(double now) {
    if (hand_) {
      const auto status = hand_->ended();
      if (!status) return;
      EXPECT_EQ(*status, 0) << steps_.front().what;
      hand_.reset();
      acted_ = now;
    }
    if (now - acted_ < (acted_on_ == steps_.front().what ? kAgainMs : 100)) return;
    int x = 0, y = 0;
    glfwGetWindowPos(static_cast<GLFWwindow*>(ImGui::GetMainViewport()->PlatformHandle), &x, &y);
    std::vector<std::string> words{"xdotool"};
    for (const std::string& word : steps_.front().words) {
      if (!word.starts_with('@')) {
        words.push_back(word);
        continue;
      }
      const auto middle = items_->middle(steps_.front().at[static_cast<size_t>(word[1] - '0')]);
      if (!middle) return;
      words.push_back(std::to_string(x + static_cast<int>(middle->x)));
      words.push_back(std::to_string(y + static_cast<int>(middle->y)));
    }
    acted_on_ = steps_.front().what;
    hand_.emplace(std::move(words));
  }

  std::optional<Program> manager_, hand_;
  std::optional<Items> items_;
  double acted_ = 0;
  std::string acted_on_;
};

// Launch, turn a knob, drag another, save a preset, begin a lesson.
TEST_F(Pointer, DoesTheMainJob) {
  const std::filesystem::path mine = dir_ / "mine/two-warps.json";
  click("a run of eight warps", "//Experiment/NUM_WARPS/8", ran_with_warps(8));
  steps_.push_back(
      {"a drag to two warps",
       {"//Experiment/NUM_WARPS/8", "//Experiment/NUM_WARPS/2"},
       {"mousemove", "@0", "mousedown", "1", "sleep", "0.2", "mousemove", "@1", "sleep", "0.2", "mouseup", "1"},
       ran_with_warps(2)});
  click("the menu", "//##MainMenuBar/##MenuBar/Presets",
        [this](const auto&) { return visible("//Presets###Menu_00/Save preset as\u2026"); });
  click("the dialog", "//Presets###Menu_00/Save preset as\u2026",
        [this](const auto&) { return visible("//Save the preset/##title"); });
  steps_.push_back({"the title",
                    {"//Save the preset/##title"},
                    {"mousemove", "@0", "click", "--repeat", "3", "1", "type", "--delay", "40", "Two warps"},
                    [](const auto&) { return Items::typed("//Save the preset/##title") == "Two warps"; }});
  click("the saved preset", "//Save the preset/###save",
        [mine](const session::Snapshot& s) { return std::filesystem::exists(mine) && s.preset_path == mine; });
  click("the lessons", "tab Lessons",
        [this](const auto&) { return visible("//Lessons/01_what_a_cta_computes/##open"); });
  click("a lesson", "//Lessons/01_what_a_cta_computes/##open",
        [this](const auto&) { return visible("//Lessons/###leave"); });
  work();
}

}  // namespace
}  // namespace attnscope::ui
