#pragma once

namespace attnscope::ui {

// A modal window in the middle, `width` ems wide where the viewport has the room; ImGui::EndPopup() ends it when this
// is true.
bool begin_modal(const char* name, float width);
// Escape closes it: in the modal's own code.
void close_on_escape();

}  // namespace attnscope::ui
