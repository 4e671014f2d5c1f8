#include "ui/widgets/stat.h"

#include "ui/theme.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {

void stat_row(const Glossary& glossary, const std::vector<Stat>& stats) {
  if (stats.empty()) return;
  const float left = ImGui::GetCursorPosX(), top = ImGui::GetCursorPosY();
  const float each = ImGui::GetContentRegionAvail().x / static_cast<float>(stats.size());
  float bottom = top;
  for (size_t at = 0; at < stats.size(); ++at) {
    ImGui::SetCursorPos({left + each * static_cast<float>(at), top});
    ImGui::BeginGroup();
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, em(0.05f)});
    ImGui::PushFont(fonts().strong, 0);
    clipped(stats[at].value, each - em(0.3f), stats[at].bad ? palette().bad : palette().text);
    ImGui::PopFont();
    ImGui::PushFont(nullptr, kSmallSize);
    term(glossary, stats[at].name, shortened(stats[at].name, each - em(0.3f)));
    ImGui::PopFont();
    ImGui::PopStyleVar();
    ImGui::EndGroup();
    bottom = std::max(bottom, ImGui::GetCursorPosY());
  }
  ImGui::SetCursorPos({left, bottom});
  ImGui::Dummy({0, 0});
}

}  // namespace attnscope::ui
