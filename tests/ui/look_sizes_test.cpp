// Each panel at many widths and heights, step by step, so that it is noticed where its parts change places.
#include <fmt/format.h>
#include <imgui_internal.h>

#include "ui/lesson_desk.h"
#include "ui/states.h"
#include "ui/sweep_desk.h"

namespace attnscope::ui {
namespace {

class LookSizes : public LookStates {
 protected:
  // Leaves so many pixels of the window free beside and below the panel.
  void leave(float beside, float below) {
    beside_ = beside;
    below_ = below;
    rest();
  }
  void open_at_sizes(const std::string& panel) {
    open_alone(panel, {1420, 760});
    ImGuiContextHook begun;
    begun.Type = ImGuiContextHookType_NewFramePost;
    begun.UserData = this;
    begun.Callback = [](ImGuiContext*, ImGuiContextHook* hook) {
      const auto& own = *static_cast<const LookSizes*>(hook->UserData);
      bar("##beside", ImGuiDir_Right, own.beside_);
      bar("##below", ImGuiDir_Down, own.below_);
    };
    ImGui::AddContextHook(ImGui::GetCurrentContext(), &begun);
  }
  // A number for each size: of what the panel draws there.
  void add_sizes(Gallery& gallery, const State& state, const std::string& series) {
    constexpr float kStep = 14;  // pixels, less than an em
    show(state);
    if (panel_ == "Sweep") wait_for_frames([&] { return !bench_->sweep().counts(); });
    rest();
    const ImVec2 whole = ImGui::FindWindowByName(panel_.c_str())->Size;
    std::vector<std::string> lines;
    const auto note = [&] {
      const ImVec2 size = ImGui::FindWindowByName(panel_.c_str())->Size;
      lines.push_back(fmt::format("{:.0f}x{:.0f} {:08x}", size.x, size.y, number_of(as_text(looked_at()))));
    };
    for (float beside = 0; whole.x - beside > 240; beside += kStep) {
      leave(beside, 0);
      note();
    }
    for (float below = kStep; whole.y - below > 150; below += 2 * kStep) {
      leave(0, below);
      note();
    }
    leave(0, 0);
    gallery.add_words(series + ", " + state.name, lines);
  }

 private:
  static void bar(const char* name, ImGuiDir side, float size) {
    if (size <= 0) return;
    ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, ImVec2(1, 1));
    ImGui::BeginViewportSideBar(name, ImGui::GetMainViewport(), side, size,
                                ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoSavedSettings |
                                    ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoNav);
    ImGui::End();
    ImGui::PopStyleVar();
  }
  float beside_ = 0, below_ = 0;
};

TEST_F(LookSizes, OfEachPanel) {
  Gallery gallery("sizes");
  const auto of = [&](const std::string& panel, const std::vector<State>& states) {
    open_at_sizes(panel);
    for (const State& state : states) add_sizes(gallery, state, panel);
  };
  const std::vector<State> runs = states_of_runs();
  of("Experiment", only(runs, {"illegal"}));
  of("Latency", only(runs, {"faster than A", "measured"}));
  of("Shared memory", only(runs, {"spills, dynamic memory"}));
  of("Error", only(runs, {"watched beside A"}));
  of("Attention", only(runs, {"pinned"}));
  of("History", only(runs, {"compared"}));
  of("Why", only(states_of_terms(), {"many findings"}));
  of("Counters", only(runs, {"a program"}));
  of("Timeline", only(states_of_timelines(), {"beside A"}));
  of("Source", only(states_of_code(), {"marked lines"}));
  State sweep = runs.front();
  sweep.set = [](Workbench& bench) {
    for (const char* knob : {"VEC_WIDTH", "SYNC_POLICY", "SWIZZLE_XOR", "REDUCE_WARP", "SO_TYPE", "BLOCK_N"})
      bench.sweep().wishes("tiled").held.insert(knob);
  };
  of("Sweep", {sweep});
  State lesson = runs.front();
  lesson.name = "a lesson";
  lesson.set = [](Workbench& bench) { EXPECT_TRUE(bench.open_lesson("04_idle_warps")); };
  of("Lessons", {lesson});
  gallery.expect_as_recorded();
}

// The panes beside the source.
TEST_F(LookSizes, OfSourcePanesBanksFragmentsSoftmax) {
  Gallery gallery("sizes_of_panes");
  open_at_sizes("Source");
  for (const char* pane : {"SASS", "Changes since A", "Banks", "Fragments", "Softmax"}) {
    for (State state : only(states_of_code(), {std::string(pane) == "Softmax" ? "beside A's row" : "code"})) {
      show(state);
      flow([&](ImGuiTestContext* ctx) {
        ctx->ItemClick((std::string("//Source/") + pane).c_str());
        ctx->MouseTeleportToPos({-10, -10});
      });
      state.name = pane;
      add_sizes(gallery, state, "Source");
    }
  }
  gallery.expect_as_recorded();
}

}  // namespace
}  // namespace attnscope::ui
