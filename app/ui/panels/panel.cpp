#include "ui/panels/panel.h"

#include "ui/theme.h"

namespace attnscope::ui {

void section(const char* title) {
  if (ImGui::GetCursorPosY() > ImGui::GetStyle().WindowPadding.y + em(1)) ImGui::Dummy({0, em(0.05f)});
  ImGui::PushFont(fonts().strong, kSmallSize);
  ImGui::PushStyleColor(ImGuiCol_Text, palette().dim);
  ImGui::SeparatorText(title);
  ImGui::PopStyleColor();
  ImGui::PopFont();
}

}  // namespace attnscope::ui
