#pragma once

namespace attnscope::ui {

// A modal window in the middle, `width` ems wide if the viewport has room. If it returns true, end it with
// ImGui::EndPopup().
bool begin_modal(const char* name, float width);
// Lets Escape close the modal; call it inside the modal's code.
void close_on_escape();

}  // namespace attnscope::ui
