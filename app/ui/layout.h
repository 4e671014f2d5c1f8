#pragma once
#include <imgui.h>

#include <memory>
#include <string>
#include <vector>

#include "ui/panels/panel.h"

namespace attnscope::ui {

enum class LayoutKind { narrow, small, usual, large };
// The layout that suits a window of that size in ems, which takes zoom into account.
LayoutKind layout_for(ImVec2 ems);

// Builds the default layout in `dockspace`, for the main viewport's work area. narrow: controls, and two rows of two:
// latency and error over history and shared memory. small: controls, the three readouts side by side, a higher strip
// below. usual: controls; the three readouts side by side; a strip below. large: error and attention in a column of
// their own, the terms (Why) under the latency, counters under shared memory, source and log beside the history.
void build_layout(ImGuiID dockspace, LayoutKind kind, const std::vector<std::unique_ptr<Panel>>& panels);

// The strip of panels below the others that contains `title`: is_tall() tells whether it has most of the height that
// they share. set_tall() gives it all but the headlines of the panels above, or its share in the default layout, and
// does nothing if the panel is not below others.
bool is_tall(const char* title);
void set_tall(const char* title, bool tall);

// Where each panel is docked, to tell a layout that the user rearranged from a built one.
std::string docks_of(const std::vector<std::unique_ptr<Panel>>& panels);

}  // namespace attnscope::ui
