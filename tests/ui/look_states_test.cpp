// Each panel by itself in many states: what it says, where it says it, and what its items tell.
#include <time.h>

#include <nlohmann/json.hpp>

#include "support/variable.h"
#include "ui/lesson_desk.h"
#include "ui/states.h"
#include "ui/still_code.h"

namespace attnscope::ui {
namespace {

constexpr ShotSize kTall{1400, 2600}, kNarrow{460, 1500}, kFlat{1400, 380};

class LookStatesOfPanels : public LookStates {
 protected:
  // The panel in every state, with room for all of it; in some of them narrow and flat, and what its items tell.
  void record(const std::string& panel, const std::string& name, const std::vector<State>& states,
              const std::set<std::string>& telling, ShotSize tall = kTall) {
    Gallery gallery(name);
    open_alone(panel, tall);
    add_states(gallery, "tall", states);
    for (const State& state : only(states, telling)) {
      show(state);
      gallery.add_words("told, " + state.name, told());
    }
    open_alone(panel, kNarrow);
    std::set<std::string> narrow = telling;
    for (const char* state : {"does not compile", "compiling", "refused", "picked", "measured", "faster than A",
                              "zoomed", "light", "one head", "running", "findings since A"})
      narrow.insert(state);
    add_states(gallery, "narrow", only(states, narrow));
    open_alone(panel, kFlat);
    add_states(gallery, "flat", only(states, telling));
    gallery.expect_as_recorded();
  }
};

TEST_F(LookStatesOfPanels, Experiment) {
  record("Experiment", "states_experiment", states_of_runs(),
         {"two runs", "illegal", "half scanned", "scanned", "kernels fail", "a kernel that needs another device",
          "first start", "options", "a reduction", "a library's routine"});
}

// Memory, with its gauge and occupancy.
TEST_F(LookStatesOfPanels, Memory) {
  record("Shared memory", "states_memory", states_of_runs(),
         {"two runs", "a program", "spills, dynamic memory", "compared", "picked", "too much static memory"});
}

TEST_F(LookStatesOfPanels, Error) {
  record("Error", "states_error", states_of_runs(),
         {"two runs", "wrong", "a watch failed", "watched beside A", "a watch found nothing, of A it did",
          "batch and grouped heads", "a watch found a race"},
         {700, 1400});
}

TEST_F(LookStatesOfPanels, Attention) {
  record("Attention", "states_attention",
         only(states_of_runs(),
              {"two runs", "nothing yet", "no run", "the first run emulates", "emulating", "causal", "picked",
               "causal from the top, more keys", "one head", "batch and grouped heads", "a reduction", "many runs",
               "does not compile", "another problem than A", "light", "zoomed", "pinned", "unchecked"}),
         {"two runs", "causal", "pinned", "many runs"}, {700, 900});
}

TEST_F(LookStatesOfPanels, History) {
  record("History", "states_history", states_of_runs(),
         {"compared", "notes", "a star", "many runs", "picked", "picked a failure", "pinned"});
}

// Counters, the emulator's and those of the hardware.
TEST_F(LookStatesOfPanels, Counters) {
  record("Counters", "states_counters",
         only(states_of_runs(),
              {"two runs", "nothing yet", "no run", "emulating", "timing", "fails while running", "picked", "pinned",
               "another problem than A", "measured", "a program", "a program beside none", "sampled counters",
               "nothing counted", "on a GPU", "light", "zoomed", "the device is gone", "does not compile"}),
         {"two runs", "a program", "on a GPU", "nothing counted"});
}

TEST_F(LookStatesOfPanels, Why) {
  record("Why", "states_why", states_of_terms(),
         {"terms", "many findings", "a trial was faster", "a trial was slower", "a trial was as fast", "picked",
          "only A lists a line", "edited since", "without A"});
}

// The latency, in each of its views.
TEST_F(LookStatesOfPanels, Latency) {
  Gallery gallery("states_latency");
  const std::vector<State> states = states_of_runs();
  for (const ShotSize size : {kTall, kNarrow, ShotSize{900, 420}}) {
    open_alone("Latency", size);
    for (const auto& [view, word] : Words<LatencyView>::table) {
      std::vector<State> viewed = states;
      if (view != LatencyView::runs)
        viewed = only(states, {"two runs", "nothing yet", "no run", "half scanned", "scanned", "scanned, a tie",
                               "many runs", "measured", "picked", "pinned", "the device is gone", "no kernel", "wrong",
                               "a kernel without knobs", "a reduction", "light", "logarithmic", "compiling"});
      for (State& state : viewed)
        state.set = [view = view, set = state.set](Workbench& bench) {
          if (set) set(bench);
          bench.view().latency_view = view;
        };
      add_states(gallery, std::to_string(size.width) + " " + std::string(word), viewed);
      if (size.width != kTall.width) continue;
      for (const State& state : only(viewed, {"two runs", "scanned", "measured", "many runs"})) {
        show(state);
        gallery.add_words("told, " + std::string(word) + ", " + state.name, told());
        gallery.add_words("told at places, " + std::string(word) + ", " + state.name,
                          told_at(grid(8, 3, 0.05f, 0.99f)));
      }
    }
  }
  gallery.expect_as_recorded();
}

// The timeline by the model, of another SM, zoomed, and measured.
TEST_F(LookStatesOfPanels, Timeline) {
  Gallery gallery("states_timeline");
  for (const ShotSize size : {kTall, kNarrow, kFlat}) {
    const std::string series = std::to_string(size.width) + "x" + std::to_string(size.height);
    open_alone("Timeline", size);
    const std::vector<State> states = states_of_timelines();
    add_states(gallery, series, states);
    for (const State& state : only(states, {"modelled", "beside A", "a program"})) {
      show(state);
      gallery.add_words("told " + series + ", " + state.name, told());
    }
    for (const State& state : only(states, {"measured too"})) {
      show(state);
      flow([&](ImGuiTestContext* ctx) { ctx->ItemClick("//Timeline/measured"); });
      rest();
      add(gallery, series, "measured");
      gallery.add_words("told " + series + ", measured", told());
    }
    // What is asked for does not come: the last timeline stays.
    for (const State& state : only(states, {"modelled"})) {
      show(state);
      flow([&](ImGuiTestContext* ctx) {
        ctx->ItemClick("//Timeline/+##zoom");
        ctx->MouseTeleportToPos({-10, -10});
      });
      rest();
      add(gallery, series, "zoomed in");
    }
  }
  gallery.expect_as_recorded();
}

// The source and each pane beside it.
TEST_F(LookStatesOfPanels, SourceAndCodePanes) {
  Gallery gallery("states_source");
  const std::vector<State> states = states_of_code();
  for (const ShotSize size : {ShotSize{1400, 1400}, ShotSize{520, 900}, kFlat}) {
    open_alone("Source", size);
    const std::string series = std::to_string(size.width) + "x" + std::to_string(size.height) + " ";
    const bool roomy = size.height > 1000;
    const std::vector<State> sized =
        roomy ? states
              : only(states, {"code", "not counted", "marked lines", "a copy", "beside A's row", "one head", "zoomed",
                              "copies", "no scores", "comments"});
    for (const char* pane : {"Source", "SASS", "PTX", "Changes since A", "Banks", "Fragments", "Softmax", "Edits"}) {
      const std::vector<State> of_pane = std::string(pane) == "Edits" ? only(sized, {"a copy"}) : sized;
      show(of_pane.front());
      add_states(gallery, series + pane, of_pane, [&](ImGuiTestContext* ctx) {
        ctx->ItemClick((std::string("//Source/") + pane).c_str());
        ctx->MouseTeleportToPos({-10, -10});
      });
      if (!roomy || std::set<std::string>{"SASS", "PTX", "Fragments"}.contains(pane)) continue;
      for (const State& state : only(of_pane, {"code", "a copy", "one head"})) {
        show(state);
        gallery.add_words("told, " + std::string(pane) + ", " + state.name, told());
      }
    }
    // A chosen line without an access, and a chosen instruction.
    for (const State& state : only(states, {"code", "jumps and barriers"}))
      for (const char* row : {"##sass0", "##sass1"})
        for (const char* pane : {"SASS", "PTX", "Banks", "Fragments"}) {
          if (!roomy && state.name != "code") continue;
          show(state);
          flow([&](ImGuiTestContext* ctx) {
            ctx->ItemClick("//Source/SASS");
            ctx->Yield(2);
            ctx->ItemClick((std::string("//Source/**/") + row).c_str());
            ctx->ItemClick((std::string("//Source/") + pane).c_str());
            ctx->MouseTeleportToPos({-10, -10});
          });
          rest();
          add(gallery, series + "chosen", state.name + ", " + row + ", " + pane);
        }
  }
  gallery.expect_as_recorded();
}

// The lessons' list, and each step that can be reached without a run.
TEST_F(LookStatesOfPanels, Lessons) {
  Gallery gallery("states_lessons");
  const State base = states_of_runs().front();
  for (const ShotSize size : {kTall, kNarrow, kFlat}) {
    const std::string series = std::to_string(size.width) + "x" + std::to_string(size.height);
    open_alone("Lessons", size);
    show(base);
    add(gallery, series, "list");
    State done = base;
    done.snapshot.settings = session::share(Json{{"lessons", {{"04_idle_warps", true}}}});
    show(done);
    add(gallery, series, "one done");
    for (const char* lesson : {"01_what_a_cta_computes", "04_idle_warps", "18_online_softmax"}) {
      show(base);
      EXPECT_TRUE(bench_->open_lesson(lesson));
      for (int step = 0; step < 3; ++step) {
        rest();
        add(gallery, series, std::string(lesson) + " " + std::to_string(step));
        bench_->lesson().choose(0);
        rest();
        add(gallery, series, std::string(lesson) + " " + std::to_string(step) + ", answered");
        bench_->lesson().next();
      }
    }
  }
  gallery.expect_as_recorded();
}

TEST_F(LookStatesOfPanels, Log) {
  const testing_support::Variable zone("TZ", "UTC");
  tzset();
  Gallery gallery("states_log");
  State base = states_of_runs().front(), lines = base;
  lines.name = "lines";
  std::vector<session::LogLine> all;
  for (int at = 0; at < 40; ++at)
    all.push_back({1000035000.0 + 60 * at, static_cast<session::LogLevel>(at % 3), "Line " + std::to_string(at)});
  lines.snapshot.log = session::share(std::move(all));
  for (const ShotSize size : {kTall, kFlat}) {
    open_alone("Log", size);
    add_states(gallery, std::to_string(size.height), {base, lines});
  }
  gallery.expect_as_recorded();
}

// The menu, the strip of A and B (baseline_strip), the status bar and the toasts.
TEST_F(LookStatesOfPanels, FrameWithBaselineStripAndStatusBar) {
  Gallery gallery("states_frame");
  for (const ShotSize size : {ShotSize{1600, 300}, ShotSize{700, 300}}) {
    open_alone("Log", size);
    parts_ = {"##status", "##baseline", "##MainMenuBar", "##toast", "Toast"};
    add_states(gallery, std::to_string(size.width), states_of_the_frame());
  }
  gallery.expect_as_recorded();
}

TEST_F(LookStatesOfPanels, Presenter) {
  Gallery gallery("states_presenter");
  for (const ShotSize size : {ShotSize{1600, 900}, ShotSize{900, 900}}) {
    open_alone("Log", size);
    parts_ = {"Presenter"};
    bench_->present(true);
    add_states(
        gallery, std::to_string(size.width),
        only(states_of_runs(), {"two runs", "no run", "compiling", "emulating", "does not compile", "no device",
                                "wrong", "a watch found a race", "picked", "a program", "illegal", "half scanned",
                                "light", "contrast", "measured", "no kernel", "unchecked", "zoomed"}));
    show(states_of_runs().front());
    for (const char* lesson : {"01_what_a_cta_computes", "04_idle_warps"}) {
      EXPECT_TRUE(bench_->open_lesson(lesson));
      for (const char* key : {"", "on", "on", "back", "take", "on"}) {
        if (*key != 0) bench_->actions().find(key)->run();
        rest();
        add(gallery, std::to_string(size.width) + " " + lesson, "after " + std::to_string(stops_++) + " " + key);
      }
    }
  }
  gallery.expect_as_recorded();
}

}  // namespace
}  // namespace attnscope::ui
