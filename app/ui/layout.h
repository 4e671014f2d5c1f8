#pragma once
#include <imgui.h>

#include <memory>
#include <string>
#include <vector>

#include "ui/panels/panel.h"

namespace attnscope::ui {

enum class LayoutKind { narrow, small, usual, large };
// The layout that fits a window; both sides in ems, so that zoom counts.
LayoutKind layout_for(ImVec2 ems);

// Builds the default layout into `dockspace`, in the size of the main viewport's work area.
// narrow: controls, and two rows of two: latency and error over history and shared memory.
// small: controls, the three readouts side by side, a higher strip below.
// usual: controls; the three readouts side by side; a strip below.
// large: error and attention in a column of their own, the terms (Why) under the latency, counters under shared memory,
// source and log beside the history.
void build_layout(ImGuiID dockspace, LayoutKind kind, const std::vector<std::unique_ptr<Panel>>& panels);

// Whether the strip of panels that `title` stands in, below others, has most of the height that they share; and a way
// to give it all but the headlines of those above, or its share of the default layout. Nothing happens where it stands
// below none.
bool is_tall(const char* title);
void set_tall(const char* title, bool tall);

// Which panel is docked where, to distinguish a layout that the user rearranged from a built one.
std::string docks_of(const std::vector<std::unique_ptr<Panel>>& panels);

}  // namespace attnscope::ui
