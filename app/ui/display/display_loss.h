#pragma once
#include <functional>
#include <string>

namespace attnscope::ui {

// Sets what happens when the program's X display goes away or refuses a request: `ended` gets the reason and must not
// return. Without it Xlib would end the process with status 1, with nothing written to disk. Call on the drawing thread
// after GLFW's start. Does nothing on displays other than X11, where GLFW reports the end by closing the window.
void on_display_loss(std::function<void(const std::string& reason)> ended);

}  // namespace attnscope::ui
