#include "ui/widgets/more_line.h"

#include <imgui.h>

#include <string>

#include "ui/theme.h"

namespace attnscope::ui {

void more_line(const char* id, size_t more, bool& all) {
  const std::string words = all ? "fewer" : std::to_string(more) + " more";
  ImGui::PushStyleColor(ImGuiCol_Text, palette().dim);
  if (ImGui::Selectable((words + "###" + id).c_str())) all = !all;
  ImGui::PopStyleColor();
}

}  // namespace attnscope::ui
