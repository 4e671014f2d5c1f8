#pragma once
#include <functional>
#include <string>

namespace attnscope::ui {

// Sets the handler for an X display that goes away or refuses a request: `ended` gets the reason and must not return.
// Without a handler, Xlib ends the process with status 1 and nothing is written to disk. Call it on the drawing thread
// after GLFW has started. It does nothing on displays other than X11, where GLFW reports the end by closing the window.
void on_display_loss(std::function<void(const std::string& reason)> ended);

}  // namespace attnscope::ui
