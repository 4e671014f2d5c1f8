#pragma once

namespace attnscope::ui {

// A modal window in the centre, `width` ems wide if the viewport has room. If it returns true, end it with end_modal().
bool begin_modal(const char* name, float width);
// Draws the button that closes the modal (as Escape does) at the right end of the line, and ends the modal.
void end_modal(const char* button = "Close");

}  // namespace attnscope::ui
