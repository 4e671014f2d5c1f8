#include "ui/widgets/modal.h"

#include <imgui.h>

#include <algorithm>

#include "ui/widgets/text.h"

namespace attnscope::ui {

bool begin_modal(const char* name, float width) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const float wide = std::min(em(width), viewport->WorkSize.x * 0.95f);
  ImGui::SetNextWindowPos(viewport->GetCenter(), ImGuiCond_Appearing, {0.5f, 0.5f});
  ImGui::SetNextWindowSizeConstraints({wide, 0}, {wide, viewport->WorkSize.y * 0.9f});
  return ImGui::BeginPopupModal(name, nullptr, ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoSavedSettings);
}

void end_modal(const char* button) {
  const float width = width_of(button) + 2 * ImGui::GetStyle().FramePadding.x;
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0f, ImGui::GetContentRegionAvail().x - width));
  if (ImGui::Button(button) || ImGui::IsKeyPressed(ImGuiKey_Escape)) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

}  // namespace attnscope::ui
