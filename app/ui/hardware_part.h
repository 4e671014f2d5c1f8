#pragma once
#include "ui/context.h"

namespace attnscope::ui {

// True if the shown run's device is a GPU whose own counters can be read.
bool has_hardware_counters(const Context& context);
// The Counters panel's part for the GPU's own counters: a button that reads them, the progress or the failure, and the
// figures beside the emulator's.
void draw_hardware(Context& context);

}  // namespace attnscope::ui
