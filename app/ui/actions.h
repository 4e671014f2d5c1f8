#pragma once
#include <imgui.h>

#include <functional>
#include <string>
#include <vector>

namespace attnscope::ui {

// A command of the window. The menu, the shortcut and the command palette all use this one definition.
struct Action {
  std::string id;     // "undo"
  std::string title;  // "Undo"
  ImGuiKeyChord chord = 0;
  std::function<void()> run = {};             // empty: a key that a control has of its own, named by `keys`
  std::function<std::string()> why_not = {};  // empty answer: it is available now
  std::string group = {};                     // where the command sheet lists it
  std::vector<ImGuiKeyChord> others = {};     // chords that do the same
  std::string keys = {};                      // of a control's own
  std::string refusal() const { return why_not ? why_not() : std::string(); }
  // Its keys in words, the first chord first; empty: it has none.
  std::string keys_text() const;
};

class Actions {
 public:
  void add(Action action) { actions_.push_back(std::move(action)); }
  void also(const std::string& id, ImGuiKeyChord chord);  // another chord of an action that was added
  const std::vector<Action>& all() const { return actions_; }
  const Action* find(const std::string& id) const;
  // A menu line with the shortcut beside it; greyed out, with the reason as its tooltip, if it is not available.
  void menu_item(const std::string& id, bool checked = false) const;
  // Runs the action whose shortcut was pressed this frame. Text fields keep their own keys, and so does a control that
  // has the keyboard's focus its arrows and what activates it.
  void handle_shortcuts() const;

 private:
  std::vector<Action> actions_;
};

std::string chord_text(ImGuiKeyChord chord);  // "Ctrl+Shift+P"

}  // namespace attnscope::ui
