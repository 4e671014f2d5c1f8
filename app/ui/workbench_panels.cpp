// The window's panels: their layout, which of them is in front, and the presenter that replaces them.
#include <imgui_internal.h>

#include <algorithm>

#include "core/joined.h"
#include "ui/baseline_strip.h"
#include "ui/panels/attention_panel.h"
#include "ui/panels/error_panel.h"
#include "ui/panels/experiment_panel.h"
#include "ui/panels/latency_panel.h"
#include "ui/panels/source_panel.h"
#include "ui/status_bar.h"
#include "ui/workbench.h"

namespace attnscope::ui {
namespace {

constexpr int kFramesToDock = 4;     // until a newly docked panel is a selectable tab
constexpr int kFramesToUncover = 3;  // until the menu and the bars have their space again
constexpr const char* kDockspace = "attnscope";

}  // namespace

void Workbench::present(bool on) {
  if (presenter_.is_on() && !on) uncovers_in_ = kFramesToUncover;
  presenter_.turn(on);
  options_.wake_within(0.01);
}

// True if all visible maps are complete.
bool Workbench::maps_complete() const {
  const auto hidden = [](const char* title) {
    const ImGuiWindow* window = ImGui::FindWindowByName(title);
    return window == nullptr || !window->DockTabIsVisible;
  };
  return (hidden("Error") || error_panel_->map_complete()) && (hidden("Attention") || attention_panel_->map_complete());
}

// Builds the layout on request, if it is missing, or if the window changed its size class and the user moved no panel.
void Workbench::settle_layout(unsigned dockspace, bool missing) {
  if (!adopted_) return;
  const ImVec2 room = ImGui::GetMainViewport()->WorkSize;
  const LayoutKind fitting = layout_for({room.x / em(1), room.y / em(1)});
  if (docks_in_ > 0 && --docks_in_ == 0) settings_.built_docks = docks_of(panels_);
  const bool grown = fitting != built_for_ && docks_in_ == 0 && !settings_.built_docks.empty() &&
                     settings_.built_docks == docks_of(panels_);
  if (!reset_wanted_ && !missing && !build_wanted_ && !grown) {
    built_for_ = fitting;
    return;
  }
  build_layout(dockspace, build_wanted_.value_or(fitting), panels_);
  if (!grown) settings_.closed.clear();
  built_for_ = fitting;
  build_wanted_.reset();
  reset_wanted_ = false;
  docks_in_ = kFramesToDock;
  options_.wake_within(0.02);
}

void Workbench::draw_content(Context& context) {
  const bool presents = presenter_.is_on();
  if (presents) {
    presenter_.draw(context, *experiment_panel_, *latency_panel_);
  } else {
    draw_menu(context);
    baseline_strip(context);
    status_bar(context);
  }
  // A panel that is not drawn keeps its place as long as its dock space exists. After a presentation the bars take
  // their space first, so that no panel has a wrong size for a frame.
  if (presents || uncovers_in_ > 0) {
    ImGui::DockSpace(ImGui::GetID(kDockspace), {0, 0}, ImGuiDockNodeFlags_KeepAliveOnly);
    if (!presents && --uncovers_in_ >= 0) options_.wake_within(0.01);
    return;
  }
  draw_panels(context);
  command_pane_.draw(context);
}

void Workbench::draw_panels(Context& context) {
  const ImGuiID dockspace = ImGui::GetID(kDockspace);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  const bool missing = ImGui::DockBuilderGetNode(dockspace) == nullptr;
  ImGui::PopStyleVar();
  settle_layout(dockspace, missing);
  ImGui::DockSpaceOverViewport(dockspace, ImGui::GetMainViewport(), ImGuiDockNodeFlags_None);
  for (const auto& panel : panels_) {
    if (settings_.closed.contains(panel->title())) continue;
    if (ImGui::Begin(panel->title(), nullptr, ImGuiWindowFlags_NoFocusOnAppearing)) panel->draw(context);
    ImGui::End();
  }
  bring_to_front();
}

// A newly docked window becomes a selectable tab only some frames later.
void Workbench::bring_to_front() {
  for (auto& [title, frames] : to_front_) {
    ImGuiWindow* window = ImGui::FindWindowByName(title.c_str());
    if (window != nullptr && window->DockNode != nullptr && window->DockNode->TabBar != nullptr &&
        !window->DockTabIsVisible)
      window->DockNode->TabBar->NextSelectedTabId = window->TabId;
    if (--frames > 0)
      options_.wake_within(0.02);
    else if (window != nullptr)
      ImGui::FocusWindow(window);
  }
  std::erase_if(to_front_, [](const auto& panel) { return panel.second <= 0; });
}

void Workbench::open_panel(const std::string& title) {
  settings_.closed.erase(title);
  to_front_[title] = kFramesToDock;
  options_.wake_within(0.02);
}

Result<void> Workbench::show_panel(const std::string& title) {
  const auto title_of = [](const auto& panel) { return std::string(panel->title()); };
  if (std::ranges::find(panels_, title, title_of) == panels_.end())
    return fail(Stage::input, "there is no panel \"" + title + "\"", "There are: " + joined(panels_, title_of) + ".");
  open_panel(title);
  return {};
}

void Workbench::show_fragments(int64_t line) {
  source_panel_->show_fragments(line);
  open_panel(source_panel_->title());
}

void Workbench::show_softmax(const SoftmaxRow& row, int64_t tile) {
  source_panel_->show_softmax(row, tile);
  open_panel(source_panel_->title());
}

}  // namespace attnscope::ui
