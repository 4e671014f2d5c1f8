#pragma once
#include <imgui.h>

#include <functional>
#include <string>
#include <vector>

namespace attnscope::ui {

// A command of the window. The menu, the shortcut and the command palette all use this definition.
struct Action {
  std::string id;     // "undo"
  std::string title;  // "Undo"
  ImGuiKeyChord chord = 0;
  std::function<void()> run = {};             // empty: a control handles the keys itself; `keys` names them
  std::function<std::string()> why_not = {};  // returns why it is not available now; empty: it is
  std::string group = {};                     // where the command sheet lists it
  std::vector<ImGuiKeyChord> others = {};     // further chords for the same action
  std::string keys = {};                      // keys that a control handles itself, as text
  std::string refusal() const { return why_not ? why_not() : std::string(); }
  // Its keys as text, the main chord first; empty if it has none.
  std::string keys_text() const;
};

class Actions {
 public:
  void add(Action action) { actions_.push_back(std::move(action)); }
  void also(const std::string& id, ImGuiKeyChord chord);  // adds a chord to an existing action
  const std::vector<Action>& all() const { return actions_; }
  const Action* find(const std::string& id) const;
  // A menu line with the shortcut beside it. If the action is not available, it is greyed out and the reason is its
  // tooltip.
  void menu_item(const std::string& id, bool checked = false) const;
  // Runs the action whose shortcut was pressed in this frame. A text field keeps its own keys; a control with the
  // keyboard focus keeps the arrows and the keys that activate it.
  void handle_shortcuts() const;

 private:
  std::vector<Action> actions_;
};

std::string chord_text(ImGuiKeyChord chord);  // "Ctrl+Shift+P"

}  // namespace attnscope::ui
