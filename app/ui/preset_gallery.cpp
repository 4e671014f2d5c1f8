#include "ui/preset_gallery.h"

#include <imgui_stdlib.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "charts/format.h"
#include "charts/term_table.h"
#include "ui/found_words.h"
#include "ui/icons.h"
#include "ui/widgets/term_bars.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

constexpr float kCard = 18, kHeight = 4.4f, kThumbnail = 3.4f, kGap = 0.5f;  // ems

// The terms of the run's time stacked, the longest at the bottom, with the time and its kind's mark below. A measured
// time has no terms, so its box is filled with its kind's colour.
void draw_thumbnail(const Observation* run, ImVec2 corner, float side) {
  const Palette& p = palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float label = ImGui::GetFontSize() * 0.85f;
  const ImVec2 low{corner.x, corner.y}, high{corner.x + side, corner.y + side - label};
  list->AddRectFilled(low, high, p.raised);
  list->AddRect(low, high, p.line);
  const auto words = [&](const std::string& text, ImU32 colour) {
    list->AddText(nullptr, label, {corner.x, high.y + em(0.05f)}, colour, shortened(text, side * 1.15f).c_str());
  };
  if (run == nullptr) return words("not run", p.faint);
  if (run->failure) return words("refused", p.bad);
  if (!run->timing) return words("no time", p.faint);
  const Timing& timing = *run->timing;
  words(charts::us_text(timing.p50), p.text);
  if (!charts::has_terms(timing)) {
    list->AddRectFilled({low.x + 1, low.y + 1}, {high.x - 1, high.y - 1}, with_alpha(colour_of(timing.kind), 0.5f));
  } else {
    float y = high.y - 1;
    for (const Term& term : timing.terms->list) {
      const float part = (high.y - low.y - 2) * f32(term.us / timing.p50);
      list->AddRectFilled({low.x + 1, std::max(low.y + 1, y - part)}, {high.x - 1, y}, colour_of(term.kind));
      y -= part;
    }
  }
  const ImVec2 mark{high.x - em(0.5f), low.y + em(0.5f)};
  list->AddCircleFilled(mark, em(0.42f), p.raised);  // the bars use its colours too
  draw_kind_mark(list, mark, em(0.25f), timing.kind);
}

}  // namespace

session::Shared<Observation> run_of_preset(const session::History& history, const session::PresetItem& preset) {
  if (!preset.draft) return nullptr;
  for (size_t at = history.size; at-- > 0;) {
    const auto& seen = history.at(at).observation;
    if (seen == nullptr) continue;
    const Experiment& ran = seen->experiment;
    if (ran.kernel == preset.draft->kernel && ran.problem == preset.draft->problem &&
        ran.config == preset.draft->config)
      return seen;
  }
  return nullptr;
}

// Each added run is searched only once, because a history may be long.
void PresetGallery::find_runs(const session::Snapshot& snapshot) {
  if (runs_of_ == snapshot.presets && runs_in_ == snapshot.history.size) return;
  runs_of_ = snapshot.presets;
  runs_in_ = snapshot.history.size;
  runs_.clear();
  for (const session::PresetItem& preset : *snapshot.presets)
    runs_[preset.path] = run_of_preset(snapshot.history, preset);
}

bool PresetGallery::matches(const session::PresetItem& preset) const {
  return holds_words(preset.name, search_) || holds_words(preset.note, search_) || holds_words(preset.group, search_) ||
         (preset.draft && holds_words(preset.draft->kernel, search_));
}

bool PresetGallery::draw_card(const session::PresetItem& preset, bool outlined, bool loaded, float width) {
  const std::string label = "###" + std::filesystem::path(preset.path).filename().string();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const bool chosen = ImGui::Selectable(label.c_str(), outlined,
                                        ImGuiSelectableFlags_NoAutoClosePopups | ImGuiSelectableFlags_AllowDoubleClick,
                                        {width, em(kHeight)});
  loads_ |= chosen && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
  tooltip((loaded ? "It is loaded.\n\n" : "") + (preset.note.empty() ? "" : preset.note + "\n\n") + preset.path);
  if (preset.path == sought_) {
    ImGui::SetScrollHereY();
    sought_.clear();
  }
  if (!ImGui::IsItemVisible()) return chosen;
  const ImVec2 after = ImGui::GetCursorScreenPos();
  draw_thumbnail(runs_[preset.path].get(), {corner.x + em(0.2f), corner.y + em(0.3f)}, em(kThumbnail));
  const float left = corner.x + em(kThumbnail + 1), room = width - em(kThumbnail + 1.2f);
  ImGui::SetCursorScreenPos({left, corner.y + em(0.2f)});
  ImGui::PushFont(fonts().strong, 0);
  clipped((loaded ? ICON_CHECK "  " : "") + preset.name, room, loaded ? palette().accent : palette().text);
  ImGui::PopFont();
  ImGui::PushFont(nullptr, kSmallSize);
  ImGui::SetCursorScreenPos({left, corner.y + ImGui::GetFontSize() * 1.9f});
  clipped(preset.draft ? preset.draft->kernel + ", " + short_text(preset.draft->problem)
                       : "it does not open with these kernels",
          room, preset.draft ? palette().dim : palette().warn);
  ImGui::SetCursorScreenPos({left, corner.y + ImGui::GetFontSize() * 3.2f});
  clipped(preset.note, room, palette().faint);
  ImGui::PopFont();
  ImGui::SetCursorScreenPos(after);
  ImGui::Dummy({0, 0});
  return chosen;
}

std::string PresetGallery::draw(const Context& context, const std::string& managed, float height) {
  loads_ = false;
  std::string chosen;
  ImGui::SetNextItemWidth(-FLT_MIN);
  ImGui::InputTextWithHint("##search", ICON_SEARCH "  search titles, notes and kernels", &search_);
  find_runs(context.snapshot);
  if (ImGui::BeginChild("list", {0, height}, ImGuiChildFlags_Borders)) {
    if (std::exchange(to_top_, false)) ImGui::SetScrollY(0);
    const float room = ImGui::GetContentRegionAvail().x;
    const int columns = std::max(1, static_cast<int>(room / em(kCard)));
    const float width = (room - em(kGap) * f32(columns - 1)) / f32(columns);
    std::string group;
    int column = 0;
    for (const session::PresetItem& preset : *context.snapshot.presets) {
      if (!matches(preset)) continue;
      if (preset.group != std::exchange(group, preset.group)) {
        small_text(preset.group, palette().faint);
        column = 0;
      }
      if (column > 0) ImGui::SameLine(f32(column) * (width + em(kGap)));
      ImGui::PushID(preset.path.c_str());  // two folders may contain the same name
      ImGui::BeginGroup();
      if (draw_card(preset, preset.path == managed, preset.path == context.snapshot.preset_path, width))
        chosen = preset.path;
      ImGui::EndGroup();
      ImGui::PopID();
      column = (column + 1) % columns;
    }
    if (group.empty()) dim_text(search_.empty() ? "No preset was found." : "No match.");
  }
  ImGui::EndChild();
  return chosen;
}

}  // namespace attnscope::ui
