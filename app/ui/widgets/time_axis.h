#pragma once
#include <imgui.h>

#include "charts/latency_axis.h"

namespace attnscope::ui {

// Shared by all plots of times. Call between ImPlot's BeginPlot and EndPlot.

// The vertical axis over `height` pixels, with its marks. Call before SetupFinish.
void set_up_time_axis(const charts::LatencyAxis& axis, float height);
// Draws a timed column's mark, samples and interval at its x. `half` is half its width in pixels. `faulty`: a sign
// beside the mark says that its output is not reliable.
void draw_time(ImDrawList* list, const charts::LatencyColumn& column, float half, bool faulty, float alpha = 1);
// Pixels between two columns.
float column_pixels();
// The column under the mouse; there are `count`.
std::optional<size_t> column_under_mouse(size_t count);

}  // namespace attnscope::ui
