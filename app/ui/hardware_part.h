#pragma once
#include "ui/context.h"

namespace attnscope::ui {

// The shown run's device is a GPU whose own counters can be read.
bool has_hardware_counters(const Context& context);
// Of the Counters panel: the button that reads them, how far that is or why it failed, and the figures beside the
// emulator's.
void draw_hardware(Context& context);

}  // namespace attnscope::ui
