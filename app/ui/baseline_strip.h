#pragma once
#include "ui/context.h"

namespace attnscope::ui {

// The line under the menu: A, the shown run B, and how B stands against A. It always has its line, and the button that
// pins A has a fixed place in it.
void baseline_strip(Context& context);

}  // namespace attnscope::ui
