#include "ui/widgets/modal.h"

#include <imgui.h>

#include <algorithm>

#include "ui/theme.h"

namespace attnscope::ui {

bool begin_modal(const char* name, float width) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const float wide = std::min(em(width), viewport->WorkSize.x * 0.95f);
  ImGui::SetNextWindowPos(viewport->GetCenter(), ImGuiCond_Appearing, {0.5f, 0.5f});
  ImGui::SetNextWindowSizeConstraints({wide, 0}, {wide, viewport->WorkSize.y * 0.9f});
  return ImGui::BeginPopupModal(name, nullptr, ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoSavedSettings);
}

void end_modal(const char* button) {
  if (ImGui::Button(button) || ImGui::IsKeyPressed(ImGuiKey_Escape)) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

}  // namespace attnscope::ui
