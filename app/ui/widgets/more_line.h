#pragma once
#include <cstddef>

namespace attnscope::ui {

// The dim line below the first rows of a list: "2 more", or "fewer" while `all` are shown. A click switches.
void more_line(const char* id, size_t more, bool& all);

}  // namespace attnscope::ui
