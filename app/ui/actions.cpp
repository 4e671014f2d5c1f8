#include "ui/actions.h"

#include "ui/widgets/text.h"

namespace attnscope::ui {

std::string chord_text(ImGuiKeyChord chord) {
  if (chord == 0) return {};
  std::string text;
  if (chord & ImGuiMod_Ctrl) text += "Ctrl+";
  if (chord & ImGuiMod_Shift) text += "Shift+";
  if (chord & ImGuiMod_Alt) text += "Alt+";
  const ImGuiKey key = static_cast<ImGuiKey>(chord & ~ImGuiMod_Mask_);
  switch (key) {
    case ImGuiKey_Equal:
      return text + "+";
    case ImGuiKey_Minus:
      return text + "\u2212";
    case ImGuiKey_Period:
      return text + ".";
    case ImGuiKey_Escape:
      return text + "Esc";
    default:
      return text + ImGui::GetKeyName(key);
  }
}

const Action* Actions::find(const std::string& id) const {
  for (const Action& action : actions_)
    if (action.id == id) return &action;
  return nullptr;
}

void Actions::menu_item(const std::string& id, bool checked) const {
  const Action* action = find(id);
  if (action == nullptr) return;
  const std::string refusal = action->refusal();
  if (ImGui::MenuItem(action->title.c_str(), chord_text(action->chord).c_str(), checked, refusal.empty()))
    action->run();
  tooltip(refusal);
}

void Actions::handle_shortcuts() const {
  for (const Action& action : actions_) {
    if (action.chord == 0) continue;
    const bool plain = (action.chord & ImGuiMod_Mask_) == 0;
    if (plain && ImGui::GetIO().WantTextInput) continue;
    // A shortcut would take its key from Dear ImGui, which needs Escape to close an open menu or dialog.
    if (action.chord == ImGuiKey_Escape && ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup)) continue;
    if (ImGui::Shortcut(action.chord, ImGuiInputFlags_RouteGlobal | (plain ? 0 : ImGuiInputFlags_RouteOverActive)) &&
        action.refusal().empty()) {
      action.run();
      return;
    }
  }
}

}  // namespace attnscope::ui
