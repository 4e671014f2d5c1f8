#include "ui/widgets/control_label.h"

#include <algorithm>
#include <cmath>

#include "ui/widgets/text.h"

namespace attnscope::ui {

float label_width() { return std::min(em(6.9f), ImGui::GetContentRegionAvail().x * 0.42f); }

void label(const Glossary& glossary, const std::string& words, const std::string& explanation, float width) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushFont(nullptr, kBaseSize * 0.87f);
  const float height = std::floor(em(1.75f));  // a rail's: the words stand on its middle at any zoom
  const std::string fitting = shortened(words, width - em(0.4f));
  ImGui::GetWindowDrawList()->AddText({at.x, at.y + std::floor((height - ImGui::GetFontSize()) / 2)}, palette().text,
                                      fitting.c_str());
  ImGui::Dummy({width_of(fitting), height});
  ImGui::PopFont();
  tooltip(explanation.empty() ? glossary.find(words) : explanation);
  ImGui::SameLine(0, 0);
  ImGui::SetCursorPosX(ImGui::GetStyle().WindowPadding.x + width);
}

}  // namespace attnscope::ui
