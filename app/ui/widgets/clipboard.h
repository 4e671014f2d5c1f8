#pragma once
#include <string_view>

namespace attnscope::ui {

// Puts a text on the clipboard as one for a terminal, where it may be pasted: a kernel's or a worker's words may hold
// escape sequences. A line end of Windows becomes a plain one.
void copy(std::string_view words);

}  // namespace attnscope::ui
