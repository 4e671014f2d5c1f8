#include "ui/widgets/control_label.h"

#include <algorithm>

#include "ui/widgets/text.h"

namespace attnscope::ui {

float label_width() { return std::min(em(6.9f), ImGui::GetContentRegionAvail().x * 0.42f); }

void label(const Glossary& glossary, const std::string& words, const std::string& explanation, float width) {
  ImGui::AlignTextToFramePadding();
  ImGui::PushFont(nullptr, kBaseSize * 0.87f);
  const std::string fitting = shortened(words, width - em(0.4f));
  ImGui::PushStyleColor(ImGuiCol_Text, palette().text);
  text(fitting);
  ImGui::PopStyleColor();
  ImGui::PopFont();
  tooltip(explanation.empty() ? glossary.find(words) : explanation);
  ImGui::SameLine(0, 0);
  ImGui::SetCursorPosX(ImGui::GetStyle().WindowPadding.x + width);
}

}  // namespace attnscope::ui
