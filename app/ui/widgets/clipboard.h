#pragma once
#include <string_view>

namespace attnscope::ui {

// Copies text to the clipboard, cleaned for a terminal, where it may be pasted: a kernel's or a worker's text may
// contain escape sequences. A Windows line end becomes a plain one.
void copy(std::string_view words);

}  // namespace attnscope::ui
