#include "ui/command_palette.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "ui/theme.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

std::string lowered(std::string words) {
  for (char& c : words) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return words;
}

// 0: the title begins with the query, 1: one of its words does, 2: it contains all of the query's words, 3: it does
// not.
int rank(const std::string& title, const std::string& query) {
  if (title.starts_with(query)) return 0;
  if (title.find(" " + query) != std::string::npos) return 1;
  std::istringstream words(query);
  for (std::string word; words >> word;)
    if (title.find(word) == std::string::npos) return 3;
  return 2;
}

}  // namespace

std::vector<size_t> matching(const std::vector<PaletteEntry>& entries, const std::string& query) {
  const std::string wanted = lowered(query);
  std::vector<std::pair<int, size_t>> ranked;
  for (size_t at = 0; at < entries.size(); ++at)
    if (const int place = rank(lowered(entries[at].title), wanted); place < 3) ranked.emplace_back(place, at);
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<size_t> found;
  for (const auto& [place, at] : ranked) found.push_back(at);
  return found;
}

void CommandPalette::open(std::vector<PaletteEntry> entries) {
  entries_ = std::move(entries);
  query_.clear();
  open_ = opens_ = true;
  refresh();
}

void CommandPalette::refresh() {
  shown_ = matching(entries_, query_);
  chosen_ = 0;
  reveal_ = true;
}

void CommandPalette::draw() {
  if (!open_) return;
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos({viewport->WorkPos.x + viewport->WorkSize.x / 2, viewport->WorkPos.y + em(3)},
                          ImGuiCond_Always, {0.5f, 0});
  ImGui::SetNextWindowSize({std::min(em(36), viewport->WorkSize.x * 0.8f), 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1.0f);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, mixed(palette().panel, palette().raised, 0.8f));
  const bool opens = std::exchange(opens_, false);
  if (opens) ImGui::SetNextWindowFocus();
  ImGui::Begin("Command palette", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoDocking |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav);
  if (opens) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(-FLT_MIN);
  if (ImGui::InputTextWithHint("##query", "what to do: a command, a panel, a knob's value, a preset", &query_))
    refresh();
  const size_t count = shown_.size();
  if (count > 0 && ImGui::IsKeyPressed(ImGuiKey_DownArrow)) {
    chosen_ = (chosen_ + 1) % count;
    reveal_ = true;
  }
  if (count > 0 && ImGui::IsKeyPressed(ImGuiKey_UpArrow)) {
    chosen_ = (chosen_ + count - 1) % count;
    reveal_ = true;
  }
  draw_entries();
  const bool beside =
      ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows);
  std::function<void()> run;
  if (open_ && count > 0 && ImGui::IsKeyPressed(ImGuiKey_Enter) && entries_[shown_[chosen_]].refusal.empty()) {
    run = entries_[shown_[chosen_]].run;
    open_ = false;
  }
  if (beside || ImGui::IsKeyPressed(ImGuiKey_Escape)) open_ = false;
  ImGui::End();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  if (run) run();
}

void CommandPalette::draw_entries() {
  const float line = ImGui::GetTextLineHeightWithSpacing();
  if (shown_.empty()) return dim_text("No match.");
  if (ImGui::BeginChild("entries", {0, line * static_cast<float>(std::min<size_t>(shown_.size(), 14)) + em(0.3f)})) {
    for (size_t at = 0; at < shown_.size(); ++at) {
      const PaletteEntry& entry = entries_[shown_[at]];
      ImGui::PushID(static_cast<int>(at));
      ImGui::PushStyleColor(ImGuiCol_Text, entry.refusal.empty() ? palette().text : palette().faint);
      const bool clicked = ImGui::Selectable(entry.title.c_str(), at == chosen_);
      ImGui::PopStyleColor();
      tooltip(entry.refusal);
      if (at == chosen_ && std::exchange(reveal_, false)) ImGui::SetScrollHereY();
      if (!entry.keys.empty()) {
        ImGui::SameLine();
        ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - width_of(entry.keys));
        dim_text(entry.keys);
      }
      ImGui::PopID();
      if (!clicked || !entry.refusal.empty()) continue;
      open_ = false;
      const std::function<void()> run = entry.run;
      run();
      break;  // the action may have opened the palette again
    }
  }
  ImGui::EndChild();
}

}  // namespace attnscope::ui
