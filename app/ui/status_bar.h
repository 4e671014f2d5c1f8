#pragma once
#include "ui/context.h"

namespace attnscope::ui {

// One line along the window's lower edge: device, worker, kinds of the shown figures, path of the map pixels, queue,
// frame time.
void status_bar(Context& context);

}  // namespace attnscope::ui
