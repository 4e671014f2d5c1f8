#include "ui/layout.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "ui/strip_height.h"
#include "ui/theme.h"

namespace attnscope::ui {
namespace {

constexpr float kSmallWidth = 80, kSmallHeight = 42, kLargeWidth = 125, kLargeHeight = 62;  // ems
constexpr float kNarrowWidth = 60;  // ems: below this, three readouts side by side would be cut
constexpr float kControlsWidth = 23.5f, kControlsNarrow = 20.5f;

struct Node {
  ImGuiID id = 0;
  // Splits `share` off at that side and returns it; this node keeps the rest.
  Node cut(ImGuiDir side, float share) {
    Node made;
    ImGui::DockBuilderSplitNode(id, side, share, &made.id, &id);
    return made;
  }
};

using Places = std::map<std::string_view, ImGuiID>;  // by panel title; all others by their Dock

constexpr float kTall = 0.62f, kTallFrom = 0.6f;  // of a height: the least that is made tall, and what counts as tall
constexpr float kBeside = 0.48f;                  // of a strip's width, for what stands beside the history
constexpr float kTallWidth = 0.68f;               // … for the tall one of two: the other is only glanced at
constexpr float kHeadlines = 13;                  // ems: what is left of the panels above a tall strip

// The share of the height for the strip below the readouts.
float lower_share(LayoutKind kind) {
  switch (kind) {
    case LayoutKind::narrow:
      return 0.45f;  // two rows of two, so that none of the three readouts is behind a tab
    case LayoutKind::small:
      return 0.36f;
    case LayoutKind::usual:
      return 0.27f;
    case LayoutKind::large:
      return 0.38f;
  }
  return 0.36f;
}

ImGuiDockNode* node_of(const char* title) {
  const ImGuiWindow* window = ImGui::FindWindowByName(title);
  return window != nullptr ? ImGui::DockBuilderGetNode(window->DockId) : nullptr;
}

// Gives a node its share of the width that it has with the node beside it.
void set_width(ImGuiDockNode* node, float share) {
  const float both = node->ParentNode->Size.x;
  ImGuiDockNode* const* parts = node->ParentNode->ChildNodes;
  node->SizeRef.x = share * both;
  (parts[0] == node ? parts[1] : parts[0])->SizeRef.x = both - share * both;
}

// The lower part of the innermost horizontal split that the panel is in; null: it stands below no other panel.
ImGuiDockNode* lower_part(const char* title) {
  ImGuiDockNode* node = node_of(title);
  for (; node != nullptr && node->ParentNode != nullptr; node = node->ParentNode)
    if (node->ParentNode->SplitAxis == ImGuiAxis_Y && node->ParentNode->ChildNodes[1] == node) return node;
  return nullptr;
}

void select_tab(ImGuiID node, const char* title) {
  ImGui::DockBuilderGetNode(node)->SelectedTabId = ImHashStr("#TAB", 0, ImHashStr(title));
}

}  // namespace

LayoutKind layout_for(ImVec2 ems) {
  if (ems.x < kNarrowWidth) return LayoutKind::narrow;
  if (ems.x < kSmallWidth || ems.y < kSmallHeight) return LayoutKind::small;
  return ems.x >= kLargeWidth && ems.y >= kLargeHeight ? LayoutKind::large : LayoutKind::usual;
}

void build_layout(ImGuiID dockspace, LayoutKind kind, const std::vector<std::unique_ptr<Panel>>& panels) {
  const ImVec2 room = ImGui::GetMainViewport()->WorkSize;
  const bool narrow = kind == LayoutKind::narrow;
  ImGui::DockBuilderRemoveNode(dockspace);
  ImGui::DockBuilderAddNode(dockspace, ImGuiDockNodeFlags_DockSpace);
  ImGui::DockBuilderSetNodeSize(dockspace, room);
  Node rest{dockspace};
  const float wide = em(narrow || kind == LayoutKind::small ? kControlsNarrow : kControlsWidth);
  const Node controls = rest.cut(ImGuiDir_Left, std::clamp(wide / room.x, 0.14f, narrow ? 0.4f : 0.34f));
  Node latency, memory, error, below, attention, counters, beside, why;
  if (kind == LayoutKind::large) {
    error = rest.cut(ImGuiDir_Right, 0.25f);
    attention = error.cut(ImGuiDir_Down, 0.46f);
    below = rest.cut(ImGuiDir_Down, lower_share(kind));
    beside = below.cut(ImGuiDir_Right, kBeside);  // room for SASS beside the source
    latency = rest;
    memory = latency.cut(ImGuiDir_Right, 0.36f);
    counters = memory.cut(ImGuiDir_Down, 0.35f);
    why = latency.cut(ImGuiDir_Down, 0.45f);
  } else if (narrow) {
    below = rest.cut(ImGuiDir_Down, lower_share(kind));
    memory = below.cut(ImGuiDir_Right, 0.45f);
    latency = rest;
    attention = error = latency.cut(ImGuiDir_Right, 0.48f);
    counters = beside = why = below;
  } else {
    below = rest.cut(ImGuiDir_Down, lower_share(kind));
    latency = rest;
    error = latency.cut(ImGuiDir_Right, 0.60f);
    memory = error.cut(ImGuiDir_Left, 0.5f);
    attention = error;
    counters = beside = why = below;
  }
  const Places own{{"Attention", attention.id},
                   {"Counters", counters.id},
                   {"Source", beside.id},
                   {"Log", beside.id},
                   {"Why", why.id}};
  const ImGuiID places[] = {controls.id, latency.id, memory.id, error.id, below.id};
  for (const auto& panel : panels) {
    const auto found = own.find(panel->title());
    const ImGuiID place = found != own.end() ? found->second : places[static_cast<int>(panel->dock())];
    ImGui::DockBuilderDockWindow(panel->title(), place);
    ImGui::DockBuilderGetNode(place)->SetLocalFlags(ImGuiDockNodeFlags_NoWindowMenuButton |
                                                    ImGuiDockNodeFlags_NoCloseButton);
  }
  ImGui::DockBuilderFinish(dockspace);
  select_tab(below.id, "History");
  select_tab(error.id, "Error");
  if (beside.id != below.id) select_tab(beside.id, "Source");
}

bool is_tall(const char* title) {
  const ImGuiDockNode* node = lower_part(title);
  return node != nullptr && node->Size.y > kTallFrom * node->ParentNode->Size.y;
}

void set_tall(const char* title, bool tall) {
  ImGuiDockNode* node = lower_part(title);
  if (node == nullptr) return;
  const float both = node->ParentNode->Size.y;
  const ImVec2 room = ImGui::GetMainViewport()->WorkSize;
  const float usual = lower_share(layout_for({room.x / em(1), room.y / em(1)})) * both;
  const float height = tall ? std::max(both - em(kHeadlines), kTall * both) : usual;
  ImGuiDockNode* above = node->ParentNode->ChildNodes[0];
  node->SizeRef.y = height;
  above->SizeRef.y = both - height;
  ImGuiDockNode* own = node_of(title);
  if (own != node && own->ParentNode->SplitAxis == ImGuiAxis_X) {  // two stand side by side in the strip
    const bool right = own->ParentNode->ChildNodes[1] == own;
    set_width(own, tall ? kTallWidth : right ? kBeside : 1 - kBeside);
  }
  ImGui::MarkIniSettingsDirty();
}

void make_room(const char* title, float ems) {
  ImGuiDockNode* node = lower_part(title);
  if (node == nullptr) return;
  const float both = node->ParentNode->Size.y, height = std::min(em(ems), both / 2);
  if (node->Size.y >= height) return;
  node->SizeRef.y = height;
  node->ParentNode->ChildNodes[0]->SizeRef.y = both - height;
  ImGui::MarkIniSettingsDirty();
}

std::string docks_of(const std::vector<std::unique_ptr<Panel>>& panels) {
  std::string docks;
  for (const auto& panel : panels) {
    const ImGuiWindow* window = ImGui::FindWindowByName(panel->title());
    docks += fmt::format("{:X} ", window != nullptr ? window->DockId : 0);
  }
  return docks;
}

}  // namespace attnscope::ui
