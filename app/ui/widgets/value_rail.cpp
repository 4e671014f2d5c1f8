#include "ui/widgets/value_rail.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "ui/theme.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

struct Cells {
  ImVec2 origin;
  float width = 0, height = 0, gap = 0;
  int columns = 1;
  ImVec2 low(size_t at) const {
    const int row = static_cast<int>(at) / columns, column = static_cast<int>(at) % columns;
    return {origin.x + static_cast<float>(column) * (width + gap), origin.y + static_cast<float>(row) * (height + gap)};
  }
  ImVec2 high(size_t at) const {
    const ImVec2 corner = low(at);
    return {corner.x + width, corner.y + height};
  }
};

Cells lay_out(const std::vector<RailValue>& values, float width) {
  float widest = em(1.6f);
  for (const RailValue& value : values) widest = std::max(widest, width_of(value.text) + em(0.6f));
  Cells cells;
  cells.gap = std::max(1.0f, em(0.12f));
  const int count = static_cast<int>(values.size());
  const int fitting = std::max(1, static_cast<int>((width + cells.gap) / (widest + cells.gap)));
  const int rows = (count + fitting - 1) / std::max(1, fitting);
  cells.columns = std::max(1, (count + rows - 1) / std::max(1, rows));  // rows of like length
  cells.width = std::floor((width - cells.gap * static_cast<float>(cells.columns - 1)) / static_cast<float>(cells.columns));
  cells.height = std::floor(em(1.65f));
  cells.origin = ImGui::GetCursorScreenPos();
  return cells;
}

void draw_cell(const Cells& cells, size_t at, const RailValue& value, bool current, bool bad, bool hovered) {
  const Palette& p = palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 low = cells.low(at), high = cells.high(at);
  const float rounding = em(0.28f);
  ImU32 fill = hovered && value.legal ? p.hover : p.raised;
  ImU32 ink = value.legal ? p.text : p.faint;
  if (current) {
    fill = bad ? p.bad : p.accent;
    ink = p.on_accent;
  }
  list->AddRectFilled(low, high, fill, rounding);
  if (value.beckoned && !current) list->AddRect(low, high, p.accent, rounding, std::max(1.5f, em(0.12f)));
  const ImVec2 size = ImGui::CalcTextSize(value.text.c_str());
  const ImVec2 pen{std::floor((low.x + high.x - size.x) / 2), std::floor((low.y + high.y - size.y) / 2)};
  list->AddText(pen, ink, value.text.c_str());
  if (!value.legal) {
    const float middle = std::floor((low.y + high.y) / 2) + 0.5f;
    list->AddLine({pen.x - em(0.25f), middle}, {pen.x + size.x + em(0.25f), middle}, current ? ink : p.bad, std::max(1.0f, em(0.09f)));
  } else if (!value.reason.empty()) {
    // A warning is a mark in the corner, not a colour alone.
    const float side = em(0.42f);
    list->AddTriangleFilled({high.x - side, low.y}, {high.x, low.y}, {high.x, low.y + side}, current ? ink : p.warn);
  }
}

std::optional<size_t> cell_under(const Cells& cells, size_t count, ImVec2 point) {
  for (size_t at = 0; at < count; ++at) {
    const ImVec2 low = cells.low(at), high = cells.high(at);
    const float reach = cells.gap / 2 + 0.5f;
    if (point.x >= low.x - reach && point.x < high.x + reach && point.y >= low.y - reach && point.y < high.y + reach) return at;
  }
  return std::nullopt;
}

// The next legal value in that direction; nothing at the end.
std::optional<int64_t> stepped(const std::vector<RailValue>& values, int64_t current, int direction) {
  const auto here = std::find_if(values.begin(), values.end(), [&](const RailValue& v) { return v.value == current; });
  std::ptrdiff_t at = here - values.begin();
  for (at += direction; at >= 0 && at < static_cast<std::ptrdiff_t>(values.size()); at += direction)
    if (values[static_cast<size_t>(at)].legal) return values[static_cast<size_t>(at)].value;
  return std::nullopt;
}

}  // namespace

RailEvent value_rail(const char* id, const std::vector<RailValue>& values, int64_t current, float width, bool current_is_bad) {
  RailEvent event;
  if (values.empty()) return event;
  const Cells cells = lay_out(values, width);
  ImGui::PushID(id);
  bool dragging = false;
  for (size_t at = 0; at < values.size(); ++at) {
    const RailValue& value = values[at];
    ImGui::SetCursorScreenPos(cells.low(at));
    ImGui::InvisibleButton(value.text.c_str(), {cells.width, cells.height});
    const bool hovered = ImGui::IsItemHovered();
    if (ImGui::IsItemActivated()) {
      event.pressed = true;
      if (!value.legal && value.value != current) event.refused = at;
      else if (value.value != current) event.chosen = value.value;
    }
    dragging |= ImGui::IsItemActive();
    event.released |= ImGui::IsItemDeactivated();
    if (ImGui::IsItemFocused() && !ImGui::GetIO().WantTextInput) {
      const int step = ImGui::IsKeyPressed(ImGuiKey_RightArrow) ? 1 : ImGui::IsKeyPressed(ImGuiKey_LeftArrow) ? -1 : 0;
      const std::optional<int64_t> next = step != 0 ? stepped(values, current, step) : std::nullopt;
      if (next) {
        event.chosen = next;
        event.pressed = event.released = true;
      }
    }
    draw_cell(cells, at, value, value.value == current, current_is_bad || !value.legal, hovered);
    tooltip(value.reason);
  }
  if (dragging && !event.pressed) {
    const std::optional<size_t> under = cell_under(cells, values.size(), ImGui::GetIO().MousePos);
    if (under && values[*under].legal && values[*under].value != current) event.chosen = values[*under].value;
  }
  const int rows = (static_cast<int>(values.size()) + cells.columns - 1) / cells.columns;
  ImGui::SetCursorScreenPos(cells.origin);
  ImGui::Dummy({width, static_cast<float>(rows) * (cells.height + cells.gap) - cells.gap});
  ImGui::PopID();
  return event;
}

}  // namespace attnscope::ui
