#include "ui/widgets/control_label.h"

#include <algorithm>
#include <cmath>

#include "ui/icons.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {

float label_width() { return std::min(em(7.4f), ImGui::GetContentRegionAvail().x * 0.42f); }

namespace {

void put_label(const Glossary& glossary, const std::string& words, const std::string& explanation, float room) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushFont(nullptr, kBaseSize * 0.87f);
  const float height = std::floor(em(1.75f));  // the height of a rail, so that the text is centred on it at any zoom
  const std::string fitting = shortened(words, room);
  ImGui::GetWindowDrawList()->AddText({at.x, at.y + std::floor((height - ImGui::GetFontSize()) / 2)}, palette().text,
                                      fitting.c_str());
  ImGui::Dummy({width_of(fitting), height});
  ImGui::PopFont();
  tooltip(explanation.empty() ? glossary.find(words) : explanation);
  ImGui::SameLine(0, 0);
}

}  // namespace

bool icon_button(const char* id, const char* icon, ImVec2 size, bool enabled, bool quiet) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::BeginDisabled(!enabled);
  const bool pressed = ImGui::InvisibleButton(id, size);
  ImGui::EndDisabled();
  const bool hovered = ImGui::IsItemHovered();
  ImGui::PushFont(nullptr, kSmallSize);
  const ImVec2 glyph = ImGui::CalcTextSize(icon);
  ImGui::GetWindowDrawList()->AddText(
      {std::floor(at.x + (size.x - glyph.x) / 2), std::floor(at.y + (size.y - glyph.y) / 2)},
      !enabled  ? with_alpha(palette().faint, 0.45f)
      : hovered ? palette().text
      : quiet   ? palette().dim
                : palette().accent,
      icon);
  ImGui::PopFont();
  return pressed;
}

bool leading_button(const char* words, ImVec2 size) {
  ImGui::PushStyleColor(ImGuiCol_Text, palette().accent);
  ImGui::PushStyleColor(ImGuiCol_Button, with_alpha(palette().accent, 0.14f));
  ImGui::PushFont(fonts().strong, 0);
  const bool pressed = ImGui::Button(words, size);
  ImGui::PopFont();
  ImGui::PopStyleColor(2);
  return pressed;
}

void label(const Glossary& glossary, const std::string& words, const std::string& explanation, float width) {
  put_label(glossary, words, explanation, width - em(0.4f));
  ImGui::SetCursorPosX(ImGui::GetCursorStartPos().x + width);
}

bool label_with_reset(const Glossary& glossary, const std::string& words, const std::string& explanation, float width,
                      const std::string& to) {
  const float side = em(1.35f), left = ImGui::GetCursorStartPos().x;
  put_label(glossary, words, explanation, width - side);
  bool pressed = false;
  if (!to.empty()) {
    ImGui::SetCursorPosX(left + width - side);
    ImGui::PushID(words.c_str());
    pressed = icon_button("reset", ICON_UNDO, {side, std::floor(em(1.63f))}, true);
    ImGui::PopID();
    tooltip("Back to " + to);
    ImGui::SameLine(0, 0);
  }
  ImGui::SetCursorPosX(left + width);
  return pressed;
}

bool reset_of_section(const char* id, bool as_they_are, const std::string& what) {
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax(), before = ImGui::GetCursorScreenPos();
  const float side = em(1.5f);
  ImGui::GetWindowDrawList()->AddRectFilled({high.x - side - em(0.2f), low.y}, high, palette().panel);
  ImGui::SetCursorScreenPos({high.x - side, low.y});
  const bool pressed = icon_button(id, ICON_UNDO, {side, high.y - low.y}, !as_they_are);
  tooltip(as_they_are ? "Nothing to reset." : what);
  ImGui::SetCursorScreenPos(before);
  return pressed;
}

}  // namespace attnscope::ui
