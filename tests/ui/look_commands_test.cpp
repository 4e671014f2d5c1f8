// What commands and keys do, what the palette lists, and what the window keeps and takes up again.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <nlohmann/json.hpp>

#include "ui/lesson_desk.h"
#include "ui/listening_session.h"
#include "ui/presenter.h"
#include "ui/states.h"

namespace attnscope::ui {
namespace {

class LookCommands : public LookStates {
 protected:
  ListeningSession& session() { return static_cast<ListeningSession&>(*session_); }
  Json choices() const {
    Json all = {{"settings", to_json(bench_->settings())}, {"view", to_json(bench_->view())}};
    for (const char* own : {"layout", "built_docks"}) all["settings"].erase(own);
    return all;
  }
  std::vector<std::string> windows() const {
    std::vector<std::string> names;
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
      if (window->Active && !window->DockIsActive &&
          (window->ParentWindow == nullptr || (window->Flags & ImGuiWindowFlags_Modal) != 0))
        names.push_back(std::string(window->Name).substr(0, std::string(window->Name).find("###")));
    return names;
  }
};

// In each kind of state, why each command is not available; and its keys.
TEST_F(LookCommands, OfWorkbenchCommandsAndActions) {
  Gallery gallery("words_actions");
  open_whole({1600, 900});
  std::vector<State> states = states_of_the_frame();
  std::erase_if(states, [](const State& state) {
    return !std::set<std::string>{
        "two runs", "nothing yet", "no run", "emulating",           "does not fit", "picked",  "a watch runs",
        "a preset", "a session",   "pinned", "a library's routine", "options",      "illegal", "one head"}
                .contains(state.name);
  });
  for (const State& state : states) {
    show(state);
    std::vector<std::string> lines;
    for (const Action& action : bench_->actions().all())
      lines.push_back(action.id + " | " + (state.name == "two runs" ? action.title + " | " + action.keys_text() : "") +
                      " | " + action.refusal());
    gallery.add_words(state.name, lines);
  }
  gallery.expect_as_recorded();
}

// What each command asks, keeps and opens.
TEST_F(LookCommands, OfWhatEachCommandDoes) {
  Gallery gallery("words_commands");
  open_alone("Experiment", {900, 700});
  std::map<std::string, State> states;
  for (State& state : states_of_the_frame()) states.emplace(state.name, state);
  for (const char* name : {"pinned"}) {
    std::vector<std::string> lines;
    for (const Action& action : bench_->actions().all()) {
      if (!action.run || std::set<std::string>{"open", "save as", "save picture", "export", "quit"}.contains(action.id))
        continue;
      show(states.at(name));
      if (!action.refusal().empty()) continue;
      session().asked();
      const Json before = choices();
      const std::vector<std::string> open = windows();
      ImGui::SetClipboardText("");
      action.run();
      for (int at = 0; at < 8; ++at) frame();
      std::string line = action.id;
      for (const std::string& one : session().asked()) line += " | asks " + one;
      if (choices() != before) line += " | keeps " + Json::diff(before, choices()).dump();
      for (const std::string& window : windows())
        if (std::ranges::find(open, window) == open.end() && window.find("##T") != 0) line += " | opens " + window;
      if (*ImGui::GetClipboardText() != 0) line += std::string(" | copies ") + ImGui::GetClipboardText();
      if (bench_->presents()) line += " | presents";
      if (bench_->compared_run() != 0) line += " | compares with " + std::to_string(bench_->compared_run());
      lines.push_back(line);
      flow([&](ImGuiTestContext* ctx) {
        for (int tries = 0; tries < 3; ++tries) ctx->KeyPress(ImGuiKey_Escape);
      });
      if (!ImGui::GetCurrentContext()->OpenPopupStack.empty()) ImGui::ClosePopupToLevel(0, false);
      if (bench_->presents()) bench_->present(false);
      rest();
    }
    gallery.add_words(name, lines);
  }
  EXPECT_FALSE(quit_);
  bench_->actions().find("quit")->run();
  EXPECT_TRUE(quit_);
  gallery.expect_as_recorded();
}

// What each key does: in the window, while a text is typed, in a dialog, and in a presentation of a lesson.
TEST_F(LookCommands, OfKeysOfActions) {
  Gallery gallery("words_keys");
  open_alone("Experiment", {900, 700});
  std::map<std::string, State> states;
  for (State& state : states_of_the_frame()) states.emplace(state.name, state);
  std::vector<std::pair<std::string, ImGuiKeyChord>> chords;
  for (const Action& action : bench_->actions().all()) {
    if (action.chord == 0 || std::set<std::string>{"open", "save as", "quit", "save"}.contains(action.id)) continue;
    chords.emplace_back(chord_text(action.chord), action.chord);
    for (const ImGuiKeyChord other : action.others) chords.emplace_back(chord_text(other), other);
  }
  const auto press_each = [&](const std::string& where, const std::function<void(ImGuiTestContext*)>& before) {
    std::vector<std::string> lines;
    for (const auto& [name, chord] : chords) {
      show(states.at(where == "a lesson is presented" ? "two runs" : "pinned"));
      if (bench_->presents()) bench_->present(false);
      rest();
      flow(before);
      rest();
      session().asked();
      const Json had = choices();
      const std::vector<std::string> open = windows();
      const bool presented = bench_->presents();
      flow([chord = chord](ImGuiTestContext* ctx) { ctx->KeyPress(chord); });
      for (int at = 0; at < 8; ++at) frame();
      std::string line = name;
      for (const std::string& one : session().asked()) line += " | asks " + one;
      if (choices() != had) line += " | keeps " + Json::diff(had, choices()).dump();
      for (const std::string& window : windows())
        if (std::ranges::find(open, window) == open.end() && window.find("##T") != 0) line += " | opens " + window;
      const std::vector<std::string> left = windows();
      for (const std::string& window : open)
        if (std::ranges::find(left, window) == left.end() && window.find("##T") != 0) line += " | closes " + window;
      if (bench_->presents() != presented) line += presented ? " | leaves" : " | presents";
      if (bench_->compared_run() != 0) line += " | compares";
      if (const lesson::Progress* progress = bench_->lesson().progress())
        line += fmt::format(" | step {}, {}", progress->at(), progress->chosen() ? int(*progress->chosen()) : -1);
      lines.push_back(line);
      flow([&](ImGuiTestContext* ctx) {
        for (int tries = 0; tries < 3; ++tries) ctx->KeyPress(ImGuiKey_Escape);
      });
      if (!ImGui::GetCurrentContext()->OpenPopupStack.empty()) ImGui::ClosePopupToLevel(0, false);
      close_others();
    }
    gallery.add_words(where, lines);
  };
  press_each("the window", [](ImGuiTestContext*) {});
  press_each("a text is typed", [](ImGuiTestContext* ctx) { ctx->ItemClick("//Experiment/seq_q/##size"); });
  press_each("a dialog is open", [&](ImGuiTestContext* ctx) {
    bench_->actions().find("about")->run();
    ctx->Yield(4);
  });
  press_each("a lesson is presented", [&](ImGuiTestContext* ctx) {
    EXPECT_TRUE(bench_->open_lesson("04_idle_warps"));
    bench_->present(true);
    ctx->Yield(12);
  });
  gallery.expect_as_recorded();
}

// Keeps what the window keeps.
class KeepingSession : public ListeningSession {
 public:
  using ListeningSession::ListeningSession;
  void set_setting(std::string key, Json value) override { kept[std::move(key)] = std::move(value); }
  void save_session(std::string, std::string, Json view) override { session_view = std::move(view); }
  void save_preset(std::filesystem::path, std::string, Json view) override { preset_view = std::move(view); }
  std::map<std::string, Json> kept;
  Json session_view, preset_view;
};

TEST_F(LookCommands, OfWhatTheWorkbenchKeepsAndAdopts) {
  Gallery gallery("words_kept");
  panel_ = "Log";
  const auto start = [&](session::Snapshot snapshot, bool adopts) -> KeepingSession& {
    if (bench_) close();
    auto made = std::make_unique<KeepingSession>(std::move(snapshot));
    KeepingSession& keeps = *made;
    session_ = std::move(made);
    open_window({1600, 900});
    if (!adopts) bench_->ignore_kept_settings();
    for (int at = 0; at < 12; ++at) frame();
    rest();
    return keeps;
  };
  session::Snapshot base = states_of_runs().front().snapshot;
  base.preset_path = "/mine/mine.json";
  base.user_preset_dir = "/mine";
  KeepingSession& first = start(base, false);
  bench_->settings().theme = ThemeMode::light;
  bench_->settings().zoom = 1.2f;
  bench_->settings().closed = {"Why"};
  bench_->settings().pinned = PinnedRun{base.history.at(0).observation->hash, base.history.at(0).finished_at};
  bench_->view().map = MapKind::reference;
  bench_->view().head = 3;
  bench_->view().latency_view = LatencyView::roofline;
  bench_->open_panel("Attention");
  rest();
  EXPECT_TRUE(first.kept.empty());
  bench_->keep_settings_now();
  bench_->actions().find("save")->run();
  flow([&](ImGuiTestContext* ctx) {
    bench_->actions().find("sessions")->run();
    ctx->Yield(4);
    ctx->ItemInput("//Sessions/##title");
    ctx->KeyCharsReplace("Monday");
    ctx->ItemClick("//Sessions/###save");
    ctx->KeyPress(ImGuiKey_Escape);
  });
  const Json settings = first.kept.at(kSettingsKey), of_preset = first.preset_view, of_session = first.session_view;
  const auto bare = [](Json json) {
    if (json.contains("window")) json = json["window"];
    for (const char* own : {"layout", "built_docks"})
      if (json.contains(own)) json[own] = json[own].get<std::string>().empty() ? "empty" : "there";
    return json.dump();
  };
  Json without_window = of_session;
  without_window.erase("window");
  gallery.add_words("kept", {bare(settings), of_preset.dump(), bare(of_session), without_window.dump()});
  const auto now = [&] { return choices().dump(); };
  session::Snapshot again = base;
  again.settings = session::share(Json{{kSettingsKey, settings}});
  start(again, true);
  std::vector<std::string> adopted{"settings: " + now()};
  Json other = settings;
  other["layout_version"] = 1;
  again.settings = session::share(Json{{kSettingsKey, other}});
  start(again, true);
  adopted.push_back("another layout: " + now());
  again = base;
  again.preset_view = session::share(Json(of_preset));
  start(again, false);
  adopted.push_back("a preset: " + now());
  again.preset_view =
      session::share(Json{{"closed", {"Error", "Nonsense", 3}}, {"in_front", "Log"}, {"map", "output"}});
  start(again, false);
  adopted.push_back("a damaged preset: " + now());
  again = base;
  again.opened.number = 1;
  again.opened.title = "Monday";
  again.opened.view = session::share(Json(of_session));
  start(again, false);
  adopted.push_back("a session: " + now());
  gallery.add_words("adopted", adopted);
  start(base, true);
  bench_->settings().theme = ThemeMode::light;
  static_cast<StillSession&>(*session_).change([&](session::Snapshot& next) {
    next.settings = session::share(Json{{kSettingsKey, to_json(WindowSettings{})}});
  });
  rest();
  gallery.add_words("set before", {now()});
  gallery.expect_as_recorded();
}

TEST_F(LookCommands, OfPalette) {
  Gallery gallery("words_palette");
  open_alone("Log", {900, 700});
  const State base = states_of_runs().front();
  for (const char* typed : {"", "layout", "set num", "zzz", "preset", "kernel"}) {
    show(base);
    const Drawing before = last_frame();
    flow([&](ImGuiTestContext* ctx) {
      ctx->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P);
      ctx->Yield(4);
      ctx->KeyChars(typed);
      ctx->KeyPress(ImGuiKey_DownArrow, 2);
      ctx->MouseTeleportToPos({-10, -10});
    });
    rest();
    Drawing palette;
    for (const auto& [part, lines] : last_frame())
      if (!before.contains(part) && part != "##Foreground") palette[part] = lines;
    EXPECT_FALSE(palette.empty());
    gallery.add("palette", std::string("typed ") + typed, palette);
    flow([](ImGuiTestContext* ctx) { ctx->KeyPress(ImGuiKey_Escape); });
    rest();
  }
  gallery.expect_as_recorded();
}

}  // namespace
}  // namespace attnscope::ui
