#include "ui/widgets/clipboard.h"

#include <imgui.h>

#include <string>

#include "core/escape.h"

namespace attnscope::ui {

void copy(std::string_view words) {
  std::string lines(words);
  for (size_t at = 0; (at = lines.find("\r\n", at)) != std::string::npos; ++at) lines.erase(at, 1);
  ImGui::SetClipboardText(terminal_text(lines).c_str());
}

}  // namespace attnscope::ui
