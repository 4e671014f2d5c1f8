#include "ui/widgets/value_rail.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "ui/theme.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

struct Cells {
  std::vector<ImVec2> lows, highs;
  float height = 0, gap = 0, total_height = 0;
};

// Equal cells if they fit, otherwise cells as wide as their text, otherwise several rows of equal cells.
Cells lay_out(const std::vector<RailValue>& values, float width) {
  Cells cells;
  cells.gap = std::max(1.0f, em(0.12f));
  cells.height = std::floor(em(1.75f));
  const size_t count = values.size();
  std::vector<float> natural;
  float widest = em(1.6f), sum = 0;
  for (const RailValue& value : values) {
    natural.push_back(width_of(value.text) + em(0.75f));
    widest = std::max(widest, natural.back());
    sum += natural.back();
  }
  const float gaps = cells.gap * static_cast<float>(count - 1);
  const bool equal = widest * static_cast<float>(count) + gaps <= width, single = equal || sum + gaps <= width;
  const size_t fitting =
      single ? count : std::clamp<size_t>(static_cast<size_t>((width + cells.gap) / (widest + cells.gap)), 1, count);
  const size_t rows = (count + fitting - 1) / fitting, columns = (count + rows - 1) / rows;
  const float each = (width - cells.gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  const float spare = (width - gaps - sum) / static_cast<float>(count);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  float x = origin.x, y = origin.y;
  for (size_t at = 0; at < count; ++at) {
    if (at > 0 && at % columns == 0) {
      x = origin.x;
      y += cells.height + cells.gap;
    }
    const float wide = single && !equal ? natural[at] + spare : each;
    cells.lows.push_back({std::floor(x), y});
    cells.highs.push_back({std::floor(x + wide), y + cells.height});
    x += wide + cells.gap;
  }
  cells.total_height = y + cells.height - origin.y;
  return cells;
}

// A bar from the cell's bottom whose height is the time. A sign beside the text shows what the height cannot. A line on
// top would strike the text through, as a refusal does.
void draw_mark(ImDrawList* list, const RailMark& mark, ImVec2 low, ImVec2 high) {
  const Palette& p = palette();
  const float line = std::max(1.0f, em(0.09f)), left = low.x + em(0.16f), middle = (low.y + high.y) / 2;
  if (mark.level > 0) {
    const float top = high.y - mark.level * (high.y - low.y - em(0.1f));
    list->AddRectFilled({low.x, top}, high, with_alpha(colour_of(mark.kind), 0.34f), em(0.2f));
  }
  if (mark.best) {  // a tick
    list->AddLine({left, middle}, {left + em(0.14f), middle + em(0.18f)}, p.good, line * 1.5f);
    list->AddLine({left + em(0.14f), middle + em(0.18f)}, {left + em(0.42f), middle - em(0.22f)}, p.good, line * 1.5f);
  } else if (mark.tie) {  // an equals sign
    for (const float y : {-0.1f, 0.1f})
      list->AddLine({left, middle + em(y)}, {left + em(0.36f), middle + em(y)}, p.good, line * 1.5f);
  } else if (mark.faulty) {  // a cross
    const float side = em(0.15f), x = left + side;
    list->AddLine({x - side, middle - side}, {x + side, middle + side}, p.bad, line * 1.5f);
    list->AddLine({x - side, middle + side}, {x + side, middle - side}, p.bad, line * 1.5f);
  }
}

void draw_cell(const Cells& cells, size_t at, const RailValue& value, bool current, bool bad, bool hovered) {
  const Palette& p = palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 low = cells.lows[at], high = cells.highs[at];
  const float rounding = em(0.28f);
  const ImU32 mark = value.moot ? p.faint : bad ? p.bad : p.accent;
  const ImU32 ink = current ? p.text : value.legal ? p.dim : p.faint;
  list->AddRectFilled(low, high,
                      current                  ? mixed(p.panel, mark, 0.34f)
                      : hovered && value.legal ? p.hover
                                               : p.raised,
                      rounding);
  if (value.mark) draw_mark(list, *value.mark, low, high);
  if (current)  // a bar also marks the chosen one
    list->AddRectFilled({low.x + rounding, high.y - std::max(2.0f, em(0.16f))}, {high.x - rounding, high.y}, mark,
                        em(0.08f));
  if (value.beckoned && !current) list->AddRect(low, high, p.accent, rounding, std::max(1.5f, em(0.12f)));
  const ImVec2 size = ImGui::CalcTextSize(value.text.c_str());
  const ImVec2 pen{std::floor((low.x + high.x - size.x) / 2), std::floor((low.y + high.y - size.y) / 2)};
  list->AddText(pen, ink, value.text.c_str());
  if (value.moot) return;
  if (!value.legal) {
    const float middle = std::floor((low.y + high.y) / 2) + 0.5f;
    list->AddLine({pen.x - em(0.25f), middle}, {pen.x + size.x + em(0.25f), middle}, p.bad, std::max(1.0f, em(0.09f)));
  } else if (!value.reason.empty()) {
    // A warning has a mark in the corner, not only a colour.
    const float side = em(0.42f);
    list->AddTriangleFilled({high.x - side, low.y}, {high.x, low.y}, {high.x, low.y + side}, p.warn);
  }
}

std::optional<size_t> cell_under(const Cells& cells, size_t count, ImVec2 point) {
  for (size_t at = 0; at < count; ++at) {
    const ImVec2 low = cells.lows[at], high = cells.highs[at];
    const float reach = cells.gap / 2 + 0.5f;
    if (point.x >= low.x - reach && point.x < high.x + reach && point.y >= low.y - reach && point.y < high.y + reach)
      return at;
  }
  return std::nullopt;
}

// The next legal value in that direction; empty at the end.
std::optional<int64_t> stepped(const std::vector<RailValue>& values, int64_t current, int direction) {
  const auto here = std::find_if(values.begin(), values.end(), [&](const RailValue& v) { return v.value == current; });
  std::ptrdiff_t at = here - values.begin();
  for (at += direction; at >= 0 && at < static_cast<std::ptrdiff_t>(values.size()); at += direction)
    if (values[static_cast<size_t>(at)].legal) return values[static_cast<size_t>(at)].value;
  return std::nullopt;
}

}  // namespace

RailEvent value_rail(const char* id, const std::vector<RailValue>& values, int64_t current, float width,
                     bool current_is_bad) {
  RailEvent event;
  if (values.empty()) return event;
  ImGui::PushFont(nullptr, kBaseSize * 0.87f);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const Cells cells = lay_out(values, width);
  ImGui::PushID(id);
  bool dragging = false;
  for (size_t at = 0; at < values.size(); ++at) {
    const RailValue& value = values[at];
    ImGui::SetCursorScreenPos(cells.lows[at]);
    ImGui::InvisibleButton(value.text.c_str(), {cells.highs[at].x - cells.lows[at].x, cells.height});
    const bool hovered = ImGui::IsItemHovered();
    const ImVec2 low = cells.lows[at], high = cells.highs[at], middle{(low.x + high.x) / 2, (low.y + high.y) / 2};
    if (ImGui::IsRectVisible(middle, {middle.x + 1, middle.y + 1}))
      event.in_sight.push_back({value.value, {low.x, low.y, high.x - low.x, high.y - low.y}});
    if (ImGui::IsItemActivated()) {
      event.pressed = true;
      if (!value.legal && value.value != current)
        event.refused = at;
      else if (value.value != current)
        event.chosen = value.value;
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
    tooltip(value.mark ? value.mark->about : value.reason);
  }
  if (dragging && !event.pressed) {
    const std::optional<size_t> under = cell_under(cells, values.size(), ImGui::GetIO().MousePos);
    if (under && values[*under].legal && values[*under].value != current) event.chosen = values[*under].value;
  }
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({width, cells.total_height});
  ImGui::PopFont();
  ImGui::PopID();
  return event;
}

}  // namespace attnscope::ui
