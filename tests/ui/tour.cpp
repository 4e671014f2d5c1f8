#include "ui/tour.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <stdexcept>

#include "support/temp_dir.h"

namespace attnscope::ui {
namespace {

constexpr size_t kMostChoices = 20;  // of what opens; a longer list shows the same again
constexpr size_t kMostLines = 60;    // of a stop's changes; beyond, another window was opened, which a Look shows

bool is_tooltip(const std::string& part) { return part.starts_with("##Tooltip"); }

// Of the last frame's vertices, without the status bar, which shows the frame's time.
size_t fingerprint() {
  size_t print = 0;
  for (const ImDrawList* list : ImGui::GetDrawData()->CmdLists)
    if (list->_OwnerName == nullptr || std::string_view(list->_OwnerName) != "##status")
      print = print * 31 + std::hash<std::string_view>()({reinterpret_cast<const char*>(list->VtxBuffer.Data),
                                                          static_cast<size_t>(list->VtxBuffer.size_in_bytes())});
  return print;
}

// "//Source", or a part of it: "//Source/beside".
const ImGuiWindow* window_of(ImGuiTestContext* ctx, const std::string& title) {
  const ImGuiWindow* found = title.find('/', 2) == std::string::npos ? ctx->GetWindowByRef(title.c_str())
                                                                     : ctx->WindowInfo(title.c_str()).Window;
  if (found == nullptr) throw std::runtime_error("there is no window " + title);
  return found;
}

// The words of a line of a Drawing; empty for a shape.
std::string words_of(const std::string& line) {
  const size_t first = line.find('"'), last = line.rfind('"');
  return first == last ? "" : line.substr(first + 1, last - first - 1);
}

// The words of a tooltip, on one line.
std::string told_in(const Drawing& drawing) {
  std::string words;
  for (const auto& [part, lines] : drawing)
    if (is_tooltip(part)) {
      // In their order: by the place, which ends a line.
      std::vector<std::pair<std::pair<int, int>, std::string>> placed;
      static const std::regex kPlace(" at (-?\\d+),(-?\\d+)$");
      for (const std::string& line : lines)
        if (std::smatch at; !words_of(line).empty() && std::regex_search(line, at, kPlace))
          placed.push_back({{std::stoi(at[2]), std::stoi(at[1])}, words_of(line)});
      std::sort(placed.begin(), placed.end());
      for (const auto& [place, more] : placed) words += (words.empty() ? "" : " | ") + more;
    }
  return words;
}

std::string text_of(const std::vector<std::pair<std::string, std::vector<std::string>>>& stops) {
  std::string text;
  for (const auto& [name, lines] : stops) {
    text += name + "\n";
    for (const std::string& line : lines) text += "  " + line + "\n";
  }
  return text;
}

std::map<std::string, std::string> stops_from(const std::string& text) {
  std::map<std::string, std::string> stops;
  std::string stop;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("  "))
      stops[stop] += line + "\n";
    else
      stops[stop = line];
  }
  return stops;
}

}  // namespace

void Tour::open(session::Snapshot snapshot, ShotSize size, ThemeMode theme) {
  if (bench_) close();
  auto made = std::make_unique<ListeningSession>(std::move(snapshot));
  asked_ = made.get();
  session_ = std::move(made);
  open_window(size);
  ImGui::GetIO().ConfigInputTextCursorBlink = false;
  bench_->ignore_kept_settings();
  bench_->settings().theme = theme;
  flow([&](ImGuiTestContext* ctx) { ctx->Yield(20); });
}

void Tour::rest(ImGuiTestContext* ctx) {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  ctx->MouseTeleportToPos({size.x / 2, size.y - 5});
  size_t last = 0;
  int still = 0;
  after_frame_ = [&] {
    const size_t now = fingerprint();
    still = now == last ? still + 1 : 0;
    last = now;
  };
  for (int frames = 0; still < 4 && frames < 200; ++frames) ctx->Yield();
  after_frame_ = {};
  now_ = seen(ctx);
}

// The next frame, without what differs from run to run.
Drawing Tour::seen(ImGuiTestContext* ctx) {
  Drawing seen = drawn(ctx);
  std::erase_if(seen["##status"], [](const std::string& line) { return line.find("frame ") != std::string::npos; });
  seen.erase("##Foreground");  // the test engine's pointer
  const std::string own = (dir_ / "mine").parent_path().string();
  for (auto& [part, lines] : seen) {
    std::set<std::string> named;
    for (std::string line : lines) {
      if (const size_t at = line.find(own); at != std::string::npos) line.replace(at, own.size(), "DIR");
      named.insert(std::move(line));
    }
    lines = std::move(named);
  }
  return seen;
}

std::vector<Tour::Item> Tour::items_in(ImGuiTestContext* ctx, ImGuiTestRef window,
                                       const std::vector<std::string>& skip) {
  ImGuiTestItemList list;
  ctx->GatherItems(&list, window);
  std::vector<Item> items;
  std::map<std::string, int> seen;
  for (int at = 0; at < list.GetSize(); ++at) {
    const ImGuiTestItemInfo& info = *list.GetByIndex(at);
    if (info.RectClipped.GetWidth() < 2 || info.RectClipped.GetHeight() < 2) continue;
    std::string label = info.DebugLabel;
    const auto names_it = [&](const std::string& begin) { return label.starts_with(begin); };
    if (label.empty() || std::ranges::any_of(skip, names_it)) continue;
    if (const int before = seen[label]++; before > 0) label += " (" + std::to_string(before + 1) + ")";
    items.push_back({label, info.ID, info.RectClipped.GetCenter()});
  }
  return items;
}

void Tour::hover(const std::string& view, const std::string& title, ImVec2 step, const std::vector<std::string>& skip) {
  flow([&](ImGuiTestContext* ctx) {
    if (opens_) opens_(ctx);
    rest(ctx);
    before_ = now_;
    const auto look_at = [&](ImVec2 at) {
      ImGuiStyle& style = ImGui::GetStyle();
      style.HoverStationaryDelay = style.HoverDelayShort = style.HoverDelayNormal = 0;
      ctx->MouseTeleportToPos(at);
      ctx->Yield(2);
    };
    for (const Item& item : items_in(ctx, window_of(ctx, title)->ID, skip)) {
      look_at(item.at);
      const Drawing pointed = seen(ctx);
      std::vector<std::string> lines;
      if (const std::string words = told_in(pointed); !words.empty()) lines.push_back(words);
      // The highlight of the item itself is Dear ImGui's.
      for (const auto& [part, drawn] : pointed)
        if (!is_tooltip(part))
          for (const std::string& line : drawn)
            if (!before_[part].contains(line) && !line.starts_with("hover")) lines.push_back("+ " + part + ": " + line);
      if (!lines.empty() && lines.size() <= kMostLines) stops_.emplace_back(view + ", on " + item.label, lines);
    }
    if (step.x <= 0) return;
    struct Places {
      ImVec2 low, high;
      int count = 0;
    };
    std::map<std::string, Places> told;
    const ImRect room = window_of(ctx, title)->InnerClipRect;
    for (float y = room.Min.y + step.y / 2; y < room.Max.y; y += step.y)
      for (float x = room.Min.x + step.x / 2; x < room.Max.x; x += step.x) {
        const ImVec2 at{std::floor(x), std::floor(y)};
        look_at(at);
        const std::string words = told_in(drawn(ctx, "##Tooltip"));
        if (words.empty()) continue;
        Places& places = told.try_emplace(words, Places{at, at}).first->second;
        places.low = ImMin(places.low, at);
        places.high = ImMax(places.high, at);
        ++places.count;
      }
    std::vector<std::string> lines;
    for (const auto& [words, places] : told)
      lines.push_back(fmt::format("{} from {},{} to {},{}: {}", places.count, places.low.x, places.low.y, places.high.x,
                                  places.high.y, words));
    stops_.emplace_back(view + ", place by place", lines);
    rest(ctx);
  });
}

void Tour::note(const std::string& name) {
  std::vector<std::string> lines, changes;
  for (const std::string& one : asked_->asked()) lines.push_back("asks: " + one);
  Json settings = {{"settings", to_json(bench_->settings())}, {"view", to_json(bench_->view())}};
  for (const char* own : {"layout", "built_docks"}) settings["settings"].erase(own);
  if (settings.dump() != settings_before_) {
    if (!settings_before_.empty())
      lines.push_back("keeps: " + Json::diff(Json::parse(settings_before_), settings).dump());
    settings_before_ = settings.dump();
  }
  const auto without = [&](const Drawing& drawing, const std::string& part, const std::string& line) {
    const auto found = drawing.find(part);
    return found == drawing.end() || !found->second.contains(line);
  };
  for (const auto& [part, drawn] : before_)
    for (const std::string& line : drawn)
      if (without(now_, part, line)) changes.push_back("- " + part + ": " + line);
  for (const auto& [part, drawn] : now_)
    for (const std::string& line : drawn)
      if (without(before_, part, line)) changes.push_back("+ " + part + ": " + line);
  if (changes.size() > kMostLines) {
    std::erase_if(changes, [](const std::string& line) { return line.starts_with("-") || words_of(line).empty(); });
  }
  lines.insert(lines.end(), changes.begin(), changes.end());
  stops_.emplace_back(name, lines);
  before_ = now_;
}

void Tour::click_item(ImGuiTestContext* ctx, const std::string& view, const Item& item,
                      const std::vector<std::string>* skip) {
  const auto popups = [] { return ImGui::GetCurrentContext()->OpenPopupStack.Size; };
  const int before = popups();
  ctx->MouseTeleportToPos(item.at);
  ctx->Yield(2);
  ctx->MouseClick(ImGuiMouseButton_Left);
  rest(ctx);
  note(view + ", click on " + item.label);
  if (popups() < before) return;  // it closed what is toured
  if (popups() == before) {
    if (ImGui::GetIO().WantTextInput) ctx->KeyPress(ImGuiKey_Escape);
    return;
  }
  std::vector<Item> choices;
  if (skip != nullptr) choices = items_in(ctx, "//$FOCUSED", *skip);
  if (choices.size() > kMostChoices) choices.resize(kMostChoices);
  for (const Item& choice : choices) {
    if (popups() == before) {
      ctx->MouseTeleportToPos(item.at);
      ctx->Yield(2);
      ctx->MouseClick(ImGuiMouseButton_Left);
      ctx->Yield(4);
    }
    if (popups() <= before) break;
    click_item(ctx, view + ", " + item.label, choice, nullptr);
  }
  for (int tries = 0; popups() > before && tries < 4; ++tries) {
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(3);
  }
  rest(ctx);
  before_ = now_;
}

void Tour::click(const std::string& view, const std::string& title, const std::vector<std::string>& skip) {
  flow([&](ImGuiTestContext* ctx) {
    if (opens_) opens_(ctx);
    const ImGuiID window = window_of(ctx, title)->ID;
    if (!opens_) ctx->WindowFocus(window);
    rest(ctx);
    asked_->asked();
    note(view);
    stops_.pop_back();
    for (const Item& item : items_in(ctx, window, skip)) {
      if (opens_ && !window_of(ctx, title)->Active) {
        opens_(ctx);
        rest(ctx);
        before_ = now_;
      }
      click_item(ctx, view, item, &skip);
    }
  });
}

void Tour::stop(const std::string& name, const std::function<void(ImGuiTestContext*)>& steps) {
  flow([&](ImGuiTestContext* ctx) {
    rest(ctx);
    asked_->asked();
    before_ = now_;
    steps(ctx);
    rest(ctx);
    note(name);
  });
}

void Tour::expect_as_recorded(const std::string& name) {
  const std::filesystem::path file = std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "tests/data/tour" / (name + ".txt");
  const std::string text = text_of(stops_);
  if (std::getenv("ATTNSCOPE_WRITE_LOOK") != nullptr) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return;
  }
  ASSERT_TRUE(std::filesystem::exists(file)) << "no recording: " << file;
  const auto now = stops_from(text), recorded = stops_from(testing_support::read_text(file));
  for (const auto& [stop, lines] : recorded)
    if (!now.contains(stop)) ADD_FAILURE() << file.filename() << " has a stop that is gone: " << stop;
  for (const auto& [stop, lines] : now) {
    const auto found = recorded.find(stop);
    if (found == recorded.end())
      ADD_FAILURE() << file.filename() << " has no stop: " << stop << "\n" << lines;
    else
      EXPECT_EQ(lines, found->second) << file.filename() << ", " << stop;
  }
}

}  // namespace attnscope::ui
