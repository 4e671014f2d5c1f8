#include "ui/widgets/stat.h"

#include <algorithm>

#include "ui/theme.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {

namespace {

float widest(const std::vector<Stat>& stats) {
  float width = 0;
  for (const Stat& stat : stats) {
    ImGui::PushFont(fonts().strong, 0);
    width = std::max(width, width_of(stat.value));
    ImGui::PopFont();
    ImGui::PushFont(nullptr, kSmallSize);
    width = std::max({width, width_of(stat.name), stat.a.empty() ? 0 : width_of("A " + stat.a)});
    ImGui::PopFont();
  }
  return width + em(0.3f);
}

}  // namespace

void stat_row(const Glossary& glossary, const std::vector<Stat>& stats) {
  if (stats.empty()) return;
  const float left = ImGui::GetCursorPosX(), room = ImGui::GetContentRegionAvail().x;
  const bool one_row = widest(stats) * static_cast<float>(stats.size()) <= room;
  const size_t columns = one_row ? stats.size() : (stats.size() + 1) / 2;
  const float each = room / static_cast<float>(columns);
  float top = ImGui::GetCursorPosY(), bottom = top;
  for (size_t at = 0; at < stats.size(); ++at) {
    if (at > 0 && at % columns == 0) top = bottom + em(0.2f);
    ImGui::SetCursorPos({left + each * static_cast<float>(at % columns), top});
    ImGui::BeginGroup();
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, em(0.05f)});
    ImGui::PushFont(fonts().strong, 0);
    clipped(stats[at].value, each - em(0.3f), stats[at].bad ? palette().bad : palette().text);
    ImGui::PopFont();
    ImGui::PushFont(nullptr, kSmallSize);
    term(glossary, stats[at].name, shortened(stats[at].name, each - em(0.3f)));
    if (!stats[at].a.empty())
      clipped("A " + stats[at].a, each - em(0.3f), stats[at].a == stats[at].value ? palette().faint : palette().dim);
    ImGui::PopFont();
    ImGui::PopStyleVar();
    ImGui::EndGroup();
    bottom = std::max(bottom, ImGui::GetCursorPosY());
  }
  ImGui::SetCursorPos({left, bottom});
  ImGui::Dummy({0, 0});
}

}  // namespace attnscope::ui
