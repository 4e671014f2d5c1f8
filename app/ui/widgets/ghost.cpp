#include "ui/widgets/ghost.h"

#include <fmt/format.h>

#include <algorithm>

#include "charts/words.h"
#include "ui/theme.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {

std::string why_no_ghost(const Context& context) {
  const Baseline& baseline = context.baseline;
  const Observation* b = context.shown.observation.get();
  if (baseline.entry == nullptr || baseline.is_shown || baseline.ghost != nullptr || b == nullptr) return {};
  const Observation& a = *baseline.entry->observation;
  return fmt::format("A is {}: {}", to_string(comparable(a, *b)), charts::unlike_sentence(a, *b));
}

void ghost_note(const Context& context) {
  if (const std::string why = why_no_ghost(context); !why.empty()) {
    ImGui::PushFont(nullptr, kSmallSize);
    clipped(why, ImGui::GetContentRegionAvail().x, palette().dim);
    ImGui::PopFont();
  }
}

void ghost_dashes(ImVec2 top, float height, float room) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float dash = em(0.25f), wide = std::max(2.0f, em(0.13f)), bottom = top.y + height;
  for (float y = top.y; y < bottom; y += 2 * dash)
    list->AddRectFilled({top.x, y}, {top.x + wide, std::min(y + dash, bottom)}, palette().text);
  if (room > wide + em(0.15f) + width_of("A")) list->AddText({top.x + wide + em(0.15f), top.y}, palette().text, "A");
}

void ghost_line(ImVec2 from, ImVec2 to, ImU32 colour) {
  const float dash = em(0.25f);
  const bool across = to.x > from.x;
  const float length = across ? to.x - from.x : to.y - from.y;
  for (float at = 0; at < length; at += 2 * dash) {
    const float end = std::min(at + dash, length);
    const ImVec2 low = across ? ImVec2{from.x + at, from.y} : ImVec2{from.x, from.y + at};
    const ImVec2 high = across ? ImVec2{from.x + end, from.y + 1} : ImVec2{from.x + 1, from.y + end};
    ImGui::GetWindowDrawList()->AddRectFilled(low, high, colour);
  }
}

}  // namespace attnscope::ui
