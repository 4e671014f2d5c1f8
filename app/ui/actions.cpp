#include "ui/actions.h"

#include <algorithm>
#include <initializer_list>

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
    case ImGuiKey_LeftArrow:
      return text + "Left";
    case ImGuiKey_RightArrow:
      return text + "Right";
    case ImGuiKey_PageUp:
      return text + "Page Up";
    case ImGuiKey_PageDown:
      return text + "Page Down";
    default:
      return text + ImGui::GetKeyName(key);
  }
}

std::string Action::keys_text() const {
  if (!keys.empty()) return keys;
  std::string words = chord_text(chord);
  for (const ImGuiKeyChord other : others) words += ", " + chord_text(other);
  return words;
}

namespace {

bool is_one_of(ImGuiKeyChord chord, std::initializer_list<ImGuiKey> keys) {
  return std::ranges::find(keys, static_cast<ImGuiKey>(chord)) != keys.end();
}

// A shortcut takes its key from Dear ImGui even if the action is then refused. Keys that menus, dialogs and controls
// need are therefore taken only if the action is available.
bool is_pressed(const Action& action, ImGuiKeyChord chord) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool plain = (chord & ImGuiMod_Mask_) == 0;
  if (plain && io.WantTextInput) return false;
  const bool of_a_control =
      is_one_of(chord, {ImGuiKey_LeftArrow, ImGuiKey_RightArrow, ImGuiKey_Enter, ImGuiKey_KeypadEnter, ImGuiKey_Space});
  const bool of_a_window = is_one_of(chord, {ImGuiKey_Escape, ImGuiKey_PageUp, ImGuiKey_PageDown});
  if ((of_a_control || of_a_window) && ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup)) return false;
  if (of_a_control && io.NavVisible && ImGui::IsAnyItemFocused()) return false;
  if ((of_a_control || of_a_window) && !action.refusal().empty()) return false;
  const bool in_editor = io.WantTextInput && !ImGui::IsAnyItemActive();  // the source editor has its own Ctrl+Z
  return ImGui::Shortcut(chord,
                         ImGuiInputFlags_RouteGlobal | (plain || in_editor ? 0 : ImGuiInputFlags_RouteOverActive));
}

}  // namespace

void Actions::also(const std::string& id, ImGuiKeyChord chord) {
  for (Action& action : actions_)
    if (action.id == id) action.others.push_back(chord);
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
  if (ImGui::MenuItem(action->title.c_str(), action->keys_text().c_str(), checked, refusal.empty())) action->run();
  tooltip(refusal);
}

void Actions::handle_shortcuts() const {
  for (const Action& action : actions_) {
    if (action.chord == 0) continue;
    bool pressed = is_pressed(action, action.chord);
    for (const ImGuiKeyChord other : action.others) pressed |= is_pressed(action, other);
    if (pressed && action.refusal().empty()) return action.run();
  }
}

}  // namespace attnscope::ui
