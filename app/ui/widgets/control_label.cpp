#include "ui/widgets/control_label.h"

#include <algorithm>

#include "ui/widgets/text.h"

namespace attnscope::ui {

float label_width() { return std::min(em(6.9f), ImGui::GetContentRegionAvail().x * 0.42f); }

void label(const Glossary& glossary, const std::string& words, const std::string& explanation, float width) {
  const float top = ImGui::GetCursorPosY();
  ImGui::PushFont(nullptr, kBaseSize * 0.87f);
  ImGui::SetCursorPosY(top + (em(1.75f) - ImGui::GetFontSize()) / 2);  // the middle of a rail, at any zoom
  const std::string fitting = shortened(words, width - em(0.4f));
  ImGui::PushStyleColor(ImGuiCol_Text, palette().text);
  text(fitting);
  ImGui::PopStyleColor();
  ImGui::PopFont();
  tooltip(explanation.empty() ? glossary.find(words) : explanation);
  ImGui::SameLine(0, 0);
  ImGui::SetCursorPos({ImGui::GetStyle().WindowPadding.x + width, top});
}

}  // namespace attnscope::ui
