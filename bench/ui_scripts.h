#pragma once
// What a person does to the window, as scripts in its hooks. bench/ui_bench.cpp plays them and reads their reports.
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

// OpenGL's loader must come before GLFW.
#include <glad/glad.h>
//
#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <imgui.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "platform/clock.h"
#include "session/session.h"
#include "ui/app.h"
#include "ui/workbench.h"

namespace attnscope {

constexpr double kPatienceMs = 300000;  // a busy machine is slow to start

inline bool all_fresh(const session::Focus& focus) {
  if (focus.running || !focus.shown) return false;
  for (int part = 0; part < session::kParts; ++part)
    if (focus.parts[part] != session::PartState::fresh || focus.part_hash[part] != focus.wanted_hash) return false;
  return true;
}

// Children of this process, from the kernel's lists.
inline std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> found;
  std::error_code gone;
  for (const auto& thread : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", parent), gone)) {
    std::ifstream list(thread.path() / "children");
    for (pid_t child = 0; list >> child;) found.push_back(child);
  }
  return found;
}

class Script {
 public:
  Script(session::Session& session, std::ofstream report) : session_(session), report_(std::move(report)) {}
  virtual ~Script() = default;

  void before_frame(ui::Workbench& bench) {
    if (platform::steady_ms() > deadline_)
      end("it took too long");
    else
      step(bench, *session_.snapshot());
  }
  void after_frame(const ui::FrameTime& frame) {
    report_ << fmt::format("frame {} {} {} {}\n", phase_, frame.build_ms, frame.build_cpu_ms, frame.shown_ms);
    shown_ms_ = frame.shown_ms;
    ++frames_;
    after(frame);
    if (drawing_) ui::wake();
  }

 protected:
  virtual void step(ui::Workbench& bench, const session::Snapshot& now) = 0;
  virtual void after(const ui::FrameTime&) {}

  void phase(const char* name) { phase_ = name; }
  void figure(const char* name, double value) { report_ << fmt::format("figure {} {}\n", name, value); }
  void end(const std::string& fault = {}) {
    if (ended_) return;
    ended_ = true;
    if (!fault.empty()) report_ << "fault " << fault << '\n';
    ui::request_close();
    ui::wake();
  }
  void point_at(double x, double y) {
    if (auto* window = static_cast<GLFWwindow*>(ImGui::GetMainViewport()->PlatformHandle))
      glfwSetCursorPos(window, x, y);
    ImGui::GetIO().AddMousePosEvent(static_cast<float>(x), static_cast<float>(y));
  }
  void button(bool down) { ImGui::GetIO().AddMouseButtonEvent(ImGuiMouseButton_Left, down); }
  // Moves the pointer over the window, so that there is something to draw.
  void wander() {
    const double at = platform::steady_ms() / 700;
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    point_at(static_cast<double>(size.x) * (0.6 + 0.35 * std::sin(at)),
             static_cast<double>(size.y) * (0.45 + 0.35 * std::cos(at * 1.3)));
  }

  session::Session& session_;
  std::ofstream report_;
  std::string phase_ = "start";
  double deadline_ = platform::steady_ms() + kPatienceMs, shown_ms_ = 0;
  int frames_ = 0;
  bool drawing_ = true;  // at full speed, as while a person acts
  std::atomic<bool> ended_ = false;
};

// Seconds of CPU that this process has used, its children apart.
inline double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

class FirstFrame : public Script {
  using Script::Script;
  void step(ui::Workbench&, const session::Snapshot&) override {}
  void after(const ui::FrameTime& frame) override {
    if (frames_ == 1) {
      figure("first_frame", frame.shown_ms);
      figure("cpu_ms", cpu_seconds() * 1000);
    }
    end();
  }
};

// From the start until the first run is done, and half a second more.
class StartUp : public Script {
  using Script::Script;
  double done_at_ = 0;
  void step(ui::Workbench&, const session::Snapshot& now) override {
    if (frames_ == 1) phase("all");
    wander();
    if (done_at_ == 0 && all_fresh(now.focus)) done_at_ = platform::steady_ms();
    if (done_at_ > 0 && platform::steady_ms() - done_at_ > 500) end();
  }
};

// MB of this process's memory that it shares with no other.
inline double memory_mb() {
  std::ifstream pages("/proc/self/statm");
  double all = 0, resident = 0, shared = 0;
  pages >> all >> resident >> shared;
  return (resident - shared) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

// MB that the program and its libraries hold of malloc's memory. What was freed and glibc keeps is not in it.
inline double live_mb() {
  char* text = nullptr;
  size_t length = 0;
  FILE* out = open_memstream(&text, &length);
  malloc_info(0, out);
  fclose(out);
  const std::string all(text, length);
  free(text);
  // The sums over all arenas stand behind the last of them.
  const auto sum = [&](std::string_view name) {
    const size_t at = all.rfind(name);
    return at == std::string::npos ? 0 : std::atof(all.c_str() + all.find("size=\"", at) + 6);
  };
  return (sum("<system type=\"current\"") + sum("<total type=\"mmap\"") - sum("<total type=\"fast\"") -
          sum("<total type=\"rest\"")) /
         1e6;
}

// No input and nothing to show for five seconds: nothing should be drawn. It begins when the session has said nothing
// new for three seconds, because what the window tries in the background is work.
class Idle : public Script {
  using Script::Script;
  std::atomic<bool> fresh_ = false, calm_ = false, over_ = false;
  void step(ui::Workbench&, const session::Snapshot& now) override {
    drawing_ = false;
    if (all_fresh(now.focus)) fresh_ = true;
    phase(calm_ ? "all" : "start");
    if (over_) end();
  }

 public:
  // Runs on its own thread: the window itself is asleep.
  void watch() {
    constexpr double kCalmMs = 3000, kRestMs = 5000;
    uint64_t version = 0;
    double since = 0, cpu = 0;
    while (!ended_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      const double now = platform::steady_ms();
      if (const uint64_t newest = session_.snapshot()->version; newest != version || !fresh_) {
        version = newest;
        since = now;
        calm_ = false;
      } else if (!calm_ && now - since > kCalmMs) {
        cpu = cpu_seconds();
        calm_ = true;
      } else if (calm_ && now - since > kCalmMs + kRestMs) {
        figure("cpu_percent", (cpu_seconds() - cpu) / kRestMs * 1e5);
        over_ = true;
        return ui::wake();
      }
    }
  }
};

// Fifteen seconds of dragging knobs from end to end, over configs that are not compiled yet, with rests between.
class Drag : public Script {
  using Script::Script;
  double begun_ = 0;
  size_t runs_ = 0, steps_ = 0;
  std::string wanted_;
  void step(ui::Workbench& bench, const session::Snapshot& now) override {
    if (begun_ == 0 && !all_fresh(now.focus)) return;
    if (begun_ == 0) {
      begun_ = platform::steady_ms();
      runs_ = now.history.size;
      wanted_ = now.focus.wanted_hash;
      phase("all");
    }
    if (now.focus.wanted_hash != wanted_) ++steps_;
    wanted_ = now.focus.wanted_hash;
    constexpr double kKnobSeconds = 3, kDragSeconds = 1.5;
    const double seconds = (platform::steady_ms() - begun_) / 1000;
    static constexpr const char* kKnobs[] = {"NUM_WARPS", "VEC_WIDTH", "BLOCK_N", "SYNC_POLICY", "SWIZZLE_XOR"};
    const auto rail = bench.rail_of(kKnobs[static_cast<size_t>(seconds / kKnobSeconds) % std::size(kKnobs)]);
    if (!rail) return end("a knob is not on the screen");
    const double within = std::fmod(seconds, kKnobSeconds) / kDragSeconds;
    const double across = 0.5 - 0.46 * std::cos(std::min(within, 1.0) * 5 * 3.14159265);  // ends elsewhere
    point_at(static_cast<double>(rail->x) + across * static_cast<double>(rail->width),
             static_cast<double>(rail->y) + 0.5 * static_cast<double>(rail->height));
    button(within > 0.04 && within < 1);
    if (seconds < 15) return;
    figure("steps", static_cast<double>(steps_));
    figure("runs", static_cast<double>(now.history.size - runs_));
    end();
  }
};

// An endless kernel reaches its deadline and is ended, and the worker comes back.
class Hang : public Script {
  using Script::Script;
  bool posted_ = false;
  double failed_at_ = 0;
  void step(ui::Workbench&, const session::Snapshot& now) override {
    if (!posted_ && !all_fresh(now.focus)) return;
    wander();
    if (!posted_) {
      Draft wish = now.focus.wanted;
      wish.kernel = "endless";
      wish.config.knobs.clear();
      session_.focus(std::move(wish), {ui::next_gesture(), true, "kernel tiled \u2192 endless"});
      posted_ = true;
      phase("all");
    }
    if (failed_at_ == 0 && now.focus.failure) {
      if (now.focus.failure->stage != Stage::deadline)
        return end("the endless kernel ended in another way: " + now.focus.failure->message);
      failed_at_ = platform::steady_ms();
    }
    if (failed_at_ > 0 && platform::steady_ms() - failed_at_ > 1500) end();
  }
};

// The worker's processes are killed while a kernel runs; the next run succeeds.
class Killed : public Script {
  using Script::Script;
  int moved_ = 0;
  double killed_at_ = 0;
  void step(ui::Workbench&, const session::Snapshot& now) override {
    if (moved_ == 0 && !all_fresh(now.focus)) return;
    wander();
    if (moved_ == 0) return move(now, 8);
    if (killed_at_ == 0 && now.focus.running) {
      for (const pid_t supervisor : children_of(getpid())) {
        for (const pid_t executor : children_of(supervisor)) kill(executor, SIGKILL);
        kill(supervisor, SIGKILL);
      }
      killed_at_ = platform::steady_ms();
    }
    if (killed_at_ == 0 || platform::steady_ms() - killed_at_ < 1000) return;
    if (moved_ == 1) return move(now, 2);
    if (all_fresh(now.focus)) end();
  }
  void move(const session::Snapshot& now, int64_t warps) {
    Draft wish = now.focus.wanted;
    wish.config.knobs["NUM_WARPS"] = warps;
    session_.focus(std::move(wish), {ui::next_gesture(), true, "NUM_WARPS"});
    ++moved_;
    phase("all");
  }
};

// Clicks "Move NUM_WARPS to 8" and waits until everything on the screen belongs to it.
class MoveNumWarps : public Script {
 public:
  MoveNumWarps(session::Session& session, std::ofstream report, bool at_once)
      : Script(session, std::move(report)), at_once_(at_once) {}

 private:
  bool at_once_;  // clicked as soon as the knob is visible, before the first run is done
  int pressed_frames_ = 0;
  double clicked_at_ = 0;
  bool arrived_ = false;
  void step(ui::Workbench& bench, const session::Snapshot& now) override {
    const auto rail = bench.rail_of("NUM_WARPS");
    if (!rail || (!at_once_ && clicked_at_ == 0 && !all_fresh(now.focus))) return;
    if (clicked_at_ == 0) clicked_at_ = platform::steady_ms();
    point_at(static_cast<double>(rail->x) + 0.95 * static_cast<double>(rail->width),
             static_cast<double>(rail->y) + 0.5 * static_cast<double>(rail->height));
    if (pressed_frames_ < 4) button(++pressed_frames_ == 2);
    const auto warps = now.focus.wanted.config.knobs.find("NUM_WARPS");
    arrived_ = warps != now.focus.wanted.config.knobs.end() && warps->second == 8 && all_fresh(now.focus);
  }
  void after(const ui::FrameTime& frame) override {
    if (!arrived_) return;
    figure("moved", frame.shown_ms - clicked_at_);
    end();
  }
};

// Minutes of all of that in turn: knobs are dragged, panels opened, the history filtered, an endless kernel is started
// and ended, and the worker is killed. Memory is read each half minute.
class LongSession : public Script {
 public:
  LongSession(session::Session& session, std::ofstream report, double seconds)
      : Script(session, std::move(report)), seconds_(seconds) {
    deadline_ += seconds * 1000;
  }

 private:
  double seconds_, begun_ = 0;
  int half_minutes_ = 0, done_ = -1;
  size_t typed_ = 0;  // frames since the search began
  int64_t warps_ = 2;

  void step(ui::Workbench& bench, const session::Snapshot& now) override {
    if (begun_ == 0 && !all_fresh(now.focus)) return;
    if (begun_ == 0) {
      begun_ = platform::steady_ms();
      figure("rows", static_cast<double>(now.history.size));
      phase("all");
    }
    const double seconds = (platform::steady_ms() - begun_) / 1000;
    if (seconds >= 30 * (half_minutes_ + 1)) {
      figure(fmt::format("mb_{}", 30 * ++half_minutes_).c_str(), memory_mb());
      figure(fmt::format("live_mb_{}", 30 * half_minutes_).c_str(), live_mb());
    }
    if (seconds > seconds_) return finish(now);
    const double within = std::fmod(seconds, 60);
    const int part = static_cast<int>(within / 5);  // twelve a minute
    if (part <= 5) return drag(bench, within);
    button(false);
    wander();
    if (part == 6) find_in_history();
    if (part == done_) return;
    done_ = part;
    typed_ = 0;
    static constexpr const char* kPanels[] = {"History", "Why", "Counters", "Timeline", "Source", "Latency"};
    bench.open_panel(kPanels[static_cast<size_t>(part - 6)]);
    if (part == 7) wish(now, "endless");
    if (part == 9) wish(now, "tiled");
    if (part == 10) kill_workers();
    if (part == 11) wish(now, "tiled");
  }
  void drag(ui::Workbench& bench, double within) {
    done_ = -1;
    static constexpr const char* kKnobs[] = {"NUM_WARPS", "VEC_WIDTH", "BLOCK_N", "SYNC_POLICY", "SWIZZLE_XOR"};
    const auto rail = bench.rail_of(kKnobs[static_cast<size_t>(within / 3) % std::size(kKnobs)]);
    if (!rail) return;  // the worker is on its way back
    const double part = std::fmod(within, 3) / 1.5;
    const double across = 0.5 - 0.46 * std::cos(std::min(part, 1.0) * 5 * 3.14159265);
    point_at(static_cast<double>(rail->x) + across * static_cast<double>(rail->width),
             static_cast<double>(rail->y) + 0.5 * static_cast<double>(rail->height));
    button(part > 0.04 && part < 1);
  }
  // Types into the history's search, a letter every few frames, and empties it again.
  void find_in_history() {
    static constexpr std::string_view kWords = "tiled warps";
    constexpr size_t kEvery = 4;
    ImGuiIO& io = ImGui::GetIO();
    const size_t at = typed_++;
    if (at <= 1)
      for (const ImGuiKey key : {ImGuiMod_Ctrl, ImGuiMod_Shift, ImGuiKey_F}) io.AddKeyEvent(key, at == 0);
    const size_t letter = at / kEvery - 1;
    if (at < kEvery || at % kEvery != 0 || letter > kWords.size()) return;
    if (letter < kWords.size()) return io.AddInputCharacter(static_cast<unsigned char>(kWords[letter]));
    for (const bool down : {true, false}) io.AddKeyEvent(ImGuiKey_Escape, down);
  }
  void wish(const session::Snapshot& now, const char* kernel) {
    Draft draft = now.focus.wanted;
    if (draft.kernel != kernel) draft.config.knobs.clear();
    draft.kernel = kernel;
    if (draft.kernel == "tiled") draft.config.knobs["NUM_WARPS"] = warps_ = warps_ == 2 ? 8 : 2;
    session_.focus(std::move(draft), {ui::next_gesture(), true, kernel});
  }
  static void kill_workers() {
    for (const pid_t supervisor : children_of(getpid())) {
      for (const pid_t executor : children_of(supervisor)) kill(executor, SIGKILL);
      kill(supervisor, SIGKILL);
    }
  }
  void finish(const session::Snapshot& now) {
    figure("runs", static_cast<double>(now.history.size));
    figure("cpu_seconds", cpu_seconds());
    end();
  }
};

}  // namespace attnscope
