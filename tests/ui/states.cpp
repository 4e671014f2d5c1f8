#include "ui/states.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "support/temp_dir.h"
#include "ui/listening_session.h"

namespace attnscope::ui {
namespace {

constexpr const char* kTitles[] = {"Experiment", "Latency",  "Shared memory", "Error", "Attention", "History", "Why",
                                   "Counters",   "Timeline", "Source",        "Sweep", "Lessons",   "Log"};

constexpr size_t kMostGone = 8;  // lines that are named one by one
constexpr double kLater = 1.5;   // seconds: what is due later depends on the time that passed

// The texts without their places, and how often each is there.
std::map<std::string, int> words_in(const Drawing& drawn) {
  std::map<std::string, int> words;
  for (const auto& [part, lines] : drawn)
    for (const std::string& line : lines)
      if (line.find('"') != std::string::npos) ++words[line.substr(0, line.rfind(" at "))];
  return words;
}

// Of what is drawn in a frame: equal numbers mean that nothing moved.
uint64_t frame_number() {
  uint64_t number = 0;
  for (const ImDrawList* list : ImGui::GetDrawData()->CmdLists)
    if (list->_OwnerName == nullptr || std::string_view(list->_OwnerName) != "##status")
      number = number * 31 + std::hash<std::string_view>()({reinterpret_cast<const char*>(list->VtxBuffer.Data),
                                                            static_cast<size_t>(list->VtxBuffer.size_in_bytes())});
  return number;
}

// The words of a tooltip.
std::string tooltip_in(const Drawing& drawn) {
  std::string words;
  for (const auto& [part, lines] : drawn)
    for (const std::string& line : lines)
      if (const size_t first = line.find('"'); first != std::string::npos)
        words += " | " + line.substr(first + 1, line.rfind('"') - first - 1);
  return words;
}

std::map<std::string, std::string> blocks_of(const std::string& text) {
  std::map<std::string, std::string> blocks;
  std::string block;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("  "))
      blocks[block] += line + "\n";
    else
      blocks[block = line];
  }
  return blocks;
}

}  // namespace

// FNV-1a.
uint32_t number_of(std::string_view text) {
  uint64_t number = 0xcbf29ce484222325u;
  for (const char letter : text) number = (number ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  return static_cast<uint32_t>(number);
}

std::vector<State> only(std::vector<State> states, const std::set<std::string>& names) {
  std::erase_if(states, [&](const State& state) { return !names.contains(state.name); });
  return states;
}

std::vector<ImVec2> grid(int across, int down, float top, float bottom) {
  std::vector<ImVec2> places;
  for (int y = 0; y < down; ++y)
    for (int x = 0; x < across; ++x)
      places.push_back({(float(x) + 0.5f) / float(across), top + (bottom - top) * (float(y) + 0.5f) / float(down)});
  return places;
}

void Gallery::add(const std::string& series, const std::string& state, const Drawing& drawn,
                  const std::vector<std::string>& besides) {
  const std::string name = series + ", " + state, whole = as_text(drawn);
  if (const char* folder = std::getenv("ATTNSCOPE_WHOLE_LOOK")) {
    std::filesystem::create_directories(std::filesystem::path(folder) / name_);
    std::ofstream(std::filesystem::path(folder) / name_ / (name + ".txt")) << whole;
  }
  const std::map<std::string, int> words = words_in(drawn);
  std::string text = fmt::format("  {:08x}\n", number_of(whole));
  const auto counted = [](const char* sign, const std::string& line, int count) {
    return count == 1 ? fmt::format("  {}{}\n", sign, line) : fmt::format("  {}{} x{}\n", sign, line, count);
  };
  if (const auto [before, is_first] = first_.try_emplace(series, words); is_first) {
    for (const auto& [line, count] : words) text += counted("", line, count);
  } else {
    std::string gone, come;
    size_t left = 0;
    for (const auto& [line, count] : before->second)
      if (const auto now = words.find(line); now == words.end() || now->second < count) {
        gone += counted("- ", line, count - (now == words.end() ? 0 : now->second));
        ++left;
      }
    for (const auto& [line, count] : words)
      if (const auto then = before->second.find(line); then == before->second.end() || then->second < count)
        come += counted("+ ", line, count - (then == before->second.end() ? 0 : then->second));
    text += left > kMostGone ? fmt::format("  - {} of {} lines\n", left, before->second.size()) : gone;
    text += come;
  }
  for (const std::string& line : besides) text += "  " + line + "\n";
  shown_.emplace_back(name, text);
}

void Gallery::add_words(const std::string& series, const std::vector<std::string>& words) {
  std::string text;
  for (std::string line : words) {
    std::ranges::replace(line, '\n', '|');
    text += "  " + line + "\n";
  }
  shown_.emplace_back(series, text);
}

void Gallery::expect_as_recorded() const {
  const std::filesystem::path file = std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "tests/data/look" / (name_ + ".txt");
  std::string text;
  for (const auto& [name, block] : shown_) text += name + "\n" + block;
  if (std::getenv("ATTNSCOPE_WRITE_LOOK") != nullptr) {
    std::ofstream(file) << text;
    return;
  }
  ASSERT_TRUE(std::filesystem::exists(file)) << "no recording: " << file;
  const auto now = blocks_of(text), recorded = blocks_of(testing_support::read_text(file));
  EXPECT_EQ(now.size(), shown_.size()) << "two states of " << name_ << " have one name";
  for (const auto& [name, block] : recorded)
    if (!now.contains(name)) ADD_FAILURE() << file.filename() << " has a state that is gone: " << name;
  for (const auto& [name, block] : now) {
    const auto found = recorded.find(name);
    if (found == recorded.end())
      ADD_FAILURE() << file.filename() << " has no state: " << name << "\n" << block;
    else
      EXPECT_EQ(block, found->second) << file.filename() << ", " << name
                                      << ". If only the number differs, ATTNSCOPE_WHOLE_LOOK=FOLDER writes what is "
                                         "drawn, before and after.";
  }
}

void LookStates::open_alone(const std::string& panel, ShotSize size) {
  if (bench_) close();
  panel_ = panel;
  parts_ = {panel};
  session_ = std::make_unique<ListeningSession>(snapshot_after({"m32_w4", "m32_w8"}));
  open_window(size);
  bench_->ignore_kept_settings();
  for (int at = 0; at < 12; ++at) frame();
  close_others();
}

void LookStates::open_whole(ShotSize size) {
  open_alone("Log", size);
  bench_->settings().closed.clear();
  rest();
}

void LookStates::close_others() {
  for (const char* title : kTitles)
    if (title != panel_) bench_->settings().closed.insert(title);
  rest();
}

void LookStates::rest() {
  uint64_t last = 0;
  int still = 0;
  for (int frames = 0; still < 2 && frames < 20000; ++frames) {
    // The shade behind a dialog comes and goes by time.
    ImGui::GetCurrentContext()->DimBgRatio = ImGui::GetTopMostPopupModal() != nullptr ? 1.0f : 0.0f;
    frame();
    const uint64_t now = frame_number();
    const bool starts = bench_->pixels().why.starts_with("CUDA starts");  // on another thread
    still = now == last && !starts ? still + 1 : 0;
    last = now;
  }
}

void LookStates::wait_for_frames(const std::function<bool()>& condition) {
  for (int frames = 0; frames < 30000 && !condition(); ++frames) {
    frame();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(condition());
}

void LookStates::show(const State& state) {
  WindowSettings& own = bench_->settings();
  own.pinned.reset();
  own.tries = true;
  own.invited = false;
  own.theme = ThemeMode::dark;
  own.zoom = 1;
  bench_->view() = {};
  bench_->lesson().close();
  if (bench_->compared_run() != 0) bench_->actions().find("close")->run();
  auto& session = static_cast<ListeningSession&>(*session_);
  session.show(state.snapshot);
  session.asked();
  frame();
  if (state.set) state.set(*bench_);
  rest();
}

void LookStates::add_states(Gallery& gallery, const std::string& series, const std::vector<State>& states,
                            const std::function<void(ImGuiTestContext*)>& view) {
  if (view) flow(view);
  for (const State& state : states) {
    show(state);
    add(gallery, series, state.name);
  }
}

Drawing LookStates::looked_at() const {
  Drawing drawn = last_frame();
  std::erase_if(drawn, [&](const auto& part) {
    return std::ranges::none_of(parts_, [&](const std::string& begin) { return part.first.starts_with(begin); });
  });
  if (const auto status = drawn.find("##status"); status != drawn.end())
    std::erase_if(status->second, [](const std::string& line) { return line.find("frame ") != std::string::npos; });
  return drawn;
}

void LookStates::add(Gallery& gallery, const std::string& series, const std::string& name) {
  const Drawing drawn = looked_at();
  std::vector<std::string> besides;
  for (const std::string& one : static_cast<ListeningSession&>(*session_).asked()) besides.push_back("asks: " + one);
  wakes_.clear();
  frame();
  for (const double within : wakes_)
    if (within < kLater) besides.push_back(fmt::format("draws again within {} s", within));
  gallery.add(series, name, drawn, besides);
}

ImVec2 LookStates::at(ImVec2 share) const {
  const ImGuiWindow* window = ImGui::FindWindowByName(panel_.c_str());
  return {std::floor(window->Pos.x + window->Size.x * share.x), std::floor(window->Pos.y + window->Size.y * share.y)};
}

std::vector<std::string> LookStates::told_at(const std::vector<ImVec2>& places) {
  std::vector<std::string> lines;
  flow([&](ImGuiTestContext* ctx) {
    for (const ImVec2 place : places) {
      ctx->MouseTeleportToPos(at(place));
      ctx->Yield(2);
      const std::string words = tooltip_in(drawn(ctx, "##Tooltip"));
      if (!words.empty()) lines.push_back(fmt::format("{:.0f},{:.0f}{}", 100 * place.x, 100 * place.y, words));
    }
    ctx->MouseTeleportToPos({-10, -10});
  });
  rest();
  return lines;
}

void LookStates::drag(ImVec2 from, ImVec2 to) {
  flow([&](ImGuiTestContext* ctx) {
    ctx->MouseTeleportToPos(at(from));
    ctx->Yield();
    ctx->MouseDown();
    ctx->Yield(2);
    ctx->MouseTeleportToPos(at(to));
    ctx->Yield(2);
    ctx->MouseUp();
    ctx->Yield();
    ctx->MouseTeleportToPos({-10, -10});
  });
  rest();
}

std::vector<std::string> LookStates::told() {
  std::vector<std::string> lines;
  flow([&](ImGuiTestContext* ctx) {
    ImGuiStyle& style = ImGui::GetStyle();
    style.HoverStationaryDelay = style.HoverDelayShort = style.HoverDelayNormal = 0;
    ImGuiTestItemList list;
    ctx->GatherItems(&list, ctx->GetWindowByRef(("//" + panel_).c_str())->ID);
    for (int at = 0; at < list.GetSize(); ++at) {
      const ImGuiTestItemInfo& item = *list.GetByIndex(at);
      if (item.RectClipped.GetWidth() < 2 || item.RectClipped.GetHeight() < 2) continue;
      ctx->MouseTeleportToPos(item.RectClipped.GetCenter());
      ctx->Yield(2);
      const std::string words = tooltip_in(drawn(ctx, "##Tooltip"));
      if (!words.empty()) lines.push_back(std::string(item.DebugLabel) + words);
    }
    ctx->MouseTeleportToPos({-10, -10});
    ctx->Yield(2);
  });
  return lines;
}

}  // namespace attnscope::ui
