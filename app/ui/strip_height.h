#pragma once

namespace attnscope::ui {

// Gives the strip of panels that `title` stands in, below others (layout.h), a height of at least so many ems, but not
// more than half of what they share.
void make_room(const char* title, float ems);

}  // namespace attnscope::ui
