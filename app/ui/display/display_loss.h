#pragma once
#include <functional>
#include <string>

namespace attnscope::ui {

// What becomes of the program when its X display goes away or refuses a request: `ended` gets the reason and must not
// return. Without it Xlib would end the process with status 1, with nothing written to disk. Called on the drawing
// thread after GLFW's start; on another display than X11 nothing is done (GLFW then reports the end by closing the
// window).
void on_display_loss(std::function<void(const std::string& reason)> ended);

}  // namespace attnscope::ui
