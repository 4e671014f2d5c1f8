#pragma once
#include "ui/context.h"

namespace attnscope::ui {

// The line under the menu: A, the shown run B, and how B compares with A. The line is always there, and the button that
// pins A has a fixed place in it.
void baseline_strip(Context& context);

}  // namespace attnscope::ui
