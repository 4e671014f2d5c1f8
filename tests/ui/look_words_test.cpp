// What commands, keys, layouts, menus and settings do, and the sentences that are made of data, as tables.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <nlohmann/json.hpp>

#include "core/command_words.h"
#include "ui/command_lines.h"
#include "ui/export_menu.h"
#include "ui/layout.h"
#include "ui/shown.h"
#include "ui/states.h"
#include "ui/strip_height.h"
#include "ui/worker_words.h"

namespace attnscope::ui {
namespace {

class LookWords : public LookStates {};

// Where each panel is, in each layout, after each of the ways to make a strip taller.
TEST_F(LookWords, OfLayoutAndStripHeight) {
  Gallery gallery("words_layouts");
  for (const ShotSize size : {ShotSize{1600, 900}, {2560, 1440}, {1100, 640}, {800, 700}}) {
    open_whole(size);
    const auto places = [&](const std::string& name) {
      rest();
      std::vector<std::string> lines;
      for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
        if (window->DockNode != nullptr && window->Active)
          lines.push_back(fmt::format(
              "{} at {:.0f},{:.0f} {:.0f}x{:.0f}{}{}", window->Name, window->Pos.x, window->Pos.y, window->Size.x,
              window->Size.y, window->DockTabIsVisible ? ", in front" : "", is_tall(window->Name) ? ", tall" : ""));
      std::ranges::sort(lines);
      gallery.add_words(fmt::format("{}x{}, {}", size.width, size.height, name), lines);
    };
    places("at first");
    for (const char* kind : {"layout narrow", "layout small", "layout usual", "layout large"}) {
      bench_->actions().find(kind)->run();
      places(kind);
      for (const char* title : {"History", "Source", "Error", "Experiment"}) {
        set_tall(title, true);
        places(std::string(kind) + ", taller " + title);
        set_tall(title, false);
        places(std::string(kind) + ", as before " + title);
      }
      make_room("Lessons", 21);
      places(std::string(kind) + ", room for the lessons");
    }
    bench_->actions().find("reset layout")->run();
    places("reset");
    bench_->settings().closed = {"Error", "Why"};
    places("two closed");
  }
  gallery.expect_as_recorded();
}

// What the menu of each panel copies.
TEST_F(LookWords, OfExportMenus) {
  Gallery gallery("words_exports");
  const auto take = [&](const std::string& panel, const std::string& name) {
    flow([&](ImGuiTestContext* ctx) {
      const ImGuiWindow* window = ctx->GetWindowByRef(("//" + panel).c_str());
      for (const float down : {0.8f, 0.5f, 0.3f}) {
        ctx->MouseMoveToPos({window->Pos.x + window->Size.x * 0.4f, window->Pos.y + window->Size.y * down});
        ctx->MouseClick(ImGuiMouseButton_Right);
        ctx->Yield(3);
        if (!ctx->UiContext->OpenPopupStack.empty()) break;
      }
      if (ctx->UiContext->OpenPopupStack.empty()) return gallery.add_words(name, {"no menu"});
      ImGuiTestItemList list;
      ctx->GatherItems(&list, "//$FOCUSED");
      std::vector<std::string> lines;
      for (int at = 0; at < list.GetSize(); ++at) lines.emplace_back(list.GetByIndex(at)->DebugLabel);
      ImGui::SetClipboardText("");
      ctx->SetRef(ctx->UiContext->OpenPopupStack.back().Window);
      ctx->ItemClick("Copy the figures as CSV", 0, ImGuiTestOpFlags_NoError);
      ctx->SetRef("");
      ctx->Yield(2);
      std::istringstream copied(ImGui::GetClipboardText());
      for (std::string line; std::getline(copied, line) && lines.size() < 40;) lines.push_back(line.substr(0, 160));
      ctx->KeyPress(ImGuiKey_Escape);
      ctx->MouseTeleportToPos({-10, -10});
      gallery.add_words(name, lines);
    });
  };
  std::map<std::string, State> runs, terms;
  for (State& state : states_of_runs()) runs.emplace(state.name, state);
  for (State& state : states_of_terms()) terms.emplace(state.name, state);
  for (const char* panel : {"Latency", "Shared memory", "Error", "Attention", "Counters", "History"}) {
    open_alone(panel, {1400, 900});
    for (const char* name : {"pinned", "scanned", "measured", "a program", "wrong"}) {
      if (std::set<std::string>{"Error", "Attention"}.contains(panel) && std::string(name) != "pinned") continue;
      State state = runs.at(name);
      if (std::string(name) == "scanned")
        state.set = [](Workbench& bench) { bench.view().latency_view = LatencyView::knob; };
      if (std::string(name) == "wrong")
        state.set = [](Workbench& bench) { bench.view().latency_view = LatencyView::roofline; };
      show(state);
      take(panel, std::string(panel) + ", " + name);
    }
  }
  open_alone("Why", {1400, 900});
  show(terms.at("many findings"));
  take("Why", "Why");
  open_alone("Timeline", {1400, 900});
  for (const State& state : states_of_timelines())
    if (state.name == "beside A" || state.name == "many warps") {
      show(state);
      take("Timeline", "Timeline, " + state.name);
    }
  gallery.expect_as_recorded();
}

TEST_F(LookWords, OfStagesWorkersAndCommandLines) {
  Gallery gallery("words_sentences");
  std::vector<std::string> lines;
  for (const auto& [stage, word] : Words<Stage>::table)
    lines.push_back(fmt::format("{} | {} | {} | {}", word, words_of(stage), int(readout_of(stage)),
                                may_run_again(stage) ? "again" : ""));
  gallery.add_words("stages", lines);
  lines.clear();
  for (const auto trouble :
       {session::LinkTrouble::none, session::LinkTrouble::no_program, session::LinkTrouble::unreachable,
        session::LinkTrouble::no_worker, session::LinkTrouble::other_version, session::LinkTrouble::silent,
        session::LinkTrouble::ended})
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{}, {"ssh", "l4box", "attnscope", "worker"}, {"/usr/bin/ssh", "l4box"}, {"docker"}}) {
      session::WorkerStatus worker;
      worker.trouble = trouble;
      worker.command = command;
      lines.push_back(fmt::format("{} {} | {}", int(trouble), command.size(), advice_on(worker)));
    }
  gallery.add_words("advice", lines);
  gallery.add_words(
      "readings", {words_of(GpuReading{"cuda:0", 1980, 650, 700, 71, {"power cap", "idle"}}),
                   words_of(GpuReading{"cuda:0", 0, 70, 0, 0, {}}), words_of(GpuReading{"cuda:0", 1, 0, 700, 0.4, {}}),
                   words_of(GpuReading{}), round_trip_words(12), round_trip_words(0.25)});
  lines.clear();
  const State base = states_of_runs().front();
  const Kernel* kernel = session::find_kernel(base.snapshot, "tiled");
  session::WorkerStatus here, far;
  far.name = "l4box";
  far.remote = true;
  far.command = {"ssh", "l4box", "attnscope", "worker"};
  for (const CommandKind kind :
       {CommandKind::run, CommandKind::export_config, CommandKind::best, CommandKind::bench, CommandKind::import_file})
    for (const char* device : {"emulated:l4", "l4box/cuda:0"})
      for (const bool own_options : {false, true})
        for (const char* preset : {"", "/p/mine.json"})
          for (const char* out : {"", "/out"}) {
            Draft draft = base.snapshot.focus.wanted;
            draft.device = device;
            draft.config.knobs["SHARED"] = 1;
            if (own_options) draft.config.options.fmad = false;
            const session::WorkerStatus* worker = draft.device == "emulated:l4" ? &here : &far;
            const CommandLine line = command_line(kind, draft, kernel, preset, out, worker);
            lines.push_back(fmt::format("{} | {}", shell_text(line.arguments), line.refusal));
          }
  const CommandLine unknown = command_line(CommandKind::run, base.snapshot.focus.wanted, nullptr, "", "");
  const CommandLine unreached = [&] {
    Draft draft = base.snapshot.focus.wanted;
    draft.device = "gone/cuda:0";
    return command_line(CommandKind::best, draft, kernel, "", "", nullptr);
  }();
  for (const CommandLine& line :
       {unknown, unreached, import_line("", "/own"), import_line("a.cu", ""), import_line("a b.cu", "/own")})
    lines.push_back(fmt::format("{} | {}", shell_text(line.arguments), line.refusal));
  std::ranges::sort(lines);
  lines.erase(std::ranges::unique(lines).begin(), lines.end());
  gallery.add_words("command lines", lines);
  lines.clear();
  for (const State& state : states_of_runs()) {
    const Shown shown = shown_of(state.snapshot);
    std::string line = state.name + " | " + shown.config_words + " | " + shown.config_text;
    for (int part = 0; part < session::kParts; ++part)
      line += fmt::format(" | {} {}", int(shown.state(session::Part(part))), shown.from(session::Part(part)));
    line += fmt::format(" | {} {} {}", shown.run, shown.running(), shown.failure() != nullptr);
    lines.push_back(line);
  }
  gallery.add_words("shown", lines);
  gallery.expect_as_recorded();
}

// Settings and the view survive their files, and a damaged file gives what it can.
TEST_F(LookWords, OfSettingsAndViewState) {
  Gallery gallery("words_settings");
  std::vector<std::string> lines;
  WindowSettings own;
  own.theme = ThemeMode::white;
  own.zoom = 1.3f;
  own.width = 1234;
  own.height = 777;
  own.invited = true;
  own.closed = {"Error", "Why"};
  own.layout = "a layout";
  own.built_docks = "docks";
  own.tries = false;
  own.pinned = PinnedRun{"abc", 12.5};
  own.layout_version = 7;
  EXPECT_EQ(window_settings_from_json(to_json(own)), own);
  lines.push_back(to_json(own).dump());
  lines.push_back(to_json(WindowSettings{}).dump());
  for (const char* damaged : {"{}",
                              "[]",
                              "null",
                              R"({"zoom": 0.79})",
                              R"({"zoom": 0.8})",
                              R"({"zoom": 2})",
                              R"({"zoom": 2.01})",
                              R"({"zoom": "large"})",
                              R"({"width": 0, "height": -4})",
                              R"({"width": 639, "height": 399})",
                              R"({"width": 640, "height": 400})",
                              R"({"width": 16384, "height": 16385})",
                              R"({"width": 100000, "height": 100000})",
                              R"({"theme": "pink"})",
                              R"({"theme": "black"})",
                              R"({"closed": "Error"})",
                              R"({"closed": ["Error", 7]})",
                              R"({"pinned": {"hash": 1}})",
                              R"({"pinned": {"hash": "a", "at": 3}})",
                              R"({"tries": false, "invited": 1, "layout": 3})"})
    lines.push_back(std::string(damaged) + " | " + to_json(window_settings_from_json(Json::parse(damaged))).dump());
  gallery.add_words("settings", lines);
  lines.clear();
  ViewState view;
  view.map = MapKind::output;
  view.batch = 1;
  view.head = 3;
  view.latency_axis = charts::AxisChoice::logarithmic;
  view.latency_view = LatencyView::roofline;
  lines.push_back(to_json(view).dump());
  for (const char* given : {"{}", "[]", R"({"map": "output", "batch": 2, "head": -1})", R"({"map": "pink"})",
                            R"({"latency_view": "knob", "latency_axis": "linear"})", R"({"head": "x", "batch": 7})"}) {
    ViewState adopted;
    adopt(adopted, Json::parse(given));
    lines.push_back(std::string(given) + " | " + to_json(adopted).dump());
    adopted = view;
    adopt(adopted, Json::parse(given));
    lines.push_back(std::string(given) + " over it | " + to_json(adopted).dump());
  }
  gallery.add_words("view", lines);
  gallery.expect_as_recorded();
}

}  // namespace
}  // namespace attnscope::ui
