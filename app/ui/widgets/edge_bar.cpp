#include "ui/widgets/edge_bar.h"

#include <imgui_internal.h>

#include "ui/theme.h"

namespace attnscope::ui {

void edge_bar(const char* name, ImGuiDir side, float font_size, float air, ImU32 background,
              const std::function<void()>& contents) {
  ImGui::PushFont(nullptr, font_size);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, background);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(em(0.9f), em(air)));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0.0f);
  const float height = ImGui::GetFontSize() + em(2 * air + 0.05f);
  if (ImGui::BeginViewportSideBar(
          name, ImGui::GetMainViewport(), side, height,
          ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoDocking))
    contents();
  ImGui::End();
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor();
  ImGui::PopFont();
}

}  // namespace attnscope::ui
