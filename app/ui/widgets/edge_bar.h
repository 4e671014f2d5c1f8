#pragma once
#include <imgui.h>

#include <functional>

namespace attnscope::ui {

// One line of text along the window's upper or lower edge, outside the docked panels. `air` is the space above and
// below the text, in ems of its font.
void edge_bar(const char* name, ImGuiDir side, float font_size, float air, ImU32 background,
              const std::function<void()>& contents);

}  // namespace attnscope::ui
