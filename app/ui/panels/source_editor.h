#pragma once
#include <ImGuiColorTextEdit/TextEditor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ui/panels/code_state.h"
#include "ui/panels/source_marks.h"
#include "ui/source_edits.h"

namespace attnscope::ui {

// Edits the source of a copied kernel in the Source panel. What is typed is written to the copy's file after a short
// pause, and runs.
class SourceEditor {
 public:
  SourceEditor();
  SourceEditor(const SourceEditor&) = delete;
  SourceEditor& operator=(const SourceEditor&) = delete;

  // Opens the shown kernel's source if it is a copy; otherwise it first requests a copy from the session. Unsaved text
  // of the previous source is saved first.
  void edit(Context& context, const Kernel& kernel, const Draft& draft, int64_t line);
  // Writes unsaved text at once. The editor stays open until that is done; a refusal keeps it open and is shown.
  void close(session::Session& session);
  void save_now(session::Session& session);
  void save_at_end(session::Session& session);  // call when the window closes
  // Call in every frame, visible or not: handles the session's answers about copies, saves and the file.
  void follow(Context& context);

  bool is_open() const { return !edits_.kernel().empty(); }
  bool is_of(const Kernel& kernel) const { return is_open() && edits_.kernel() == kernel.id; }
  const std::string& text() const { return edits_.text(); }
  // True if the text is the kernel's source, so that figures by line apply to it.
  bool is_as_in(const Kernel& kernel) const { return !edits_.unsaved() && edits_.file() == kernel.source; }
  void show_line(int64_t line);
  // True if the text cannot be written: a save was refused, or another program wrote the file.
  bool is_stuck() const { return edits_.failure().has_value() || edits_.conflict(); }
  // One line that says what to do about it, while another kernel is shown.
  void draw_stuck();

  // One line that is always there: the state of the text, and what to do. `marks`: of the kernel as it ran last.
  void draw_bar(Context& context, const Kernel& kernel, const std::vector<SourceMark>& marks);
  // Draws the text. Returns the line that the cursor moved to, or 0.
  int64_t draw(Context& context, const Kernel& kernel, const std::vector<SourceMark>& marks, const CodeState& code);

 private:
  struct Next {
    std::string kernel;
    Draft draft;
    int64_t line = 0;
  };

  void begin(Context& context, const Kernel& kernel, const Draft& draft, int64_t line);
  void open(const Kernel& kernel, int64_t line);
  void discard();
  void take(const std::string& text);
  void put_marks(const std::vector<SourceMark>& marks);
  bool draw_state(const Kernel& kernel, const std::vector<SourceMark>& marks);
  void draw_trouble(float room);
  void draw_revert(const Context& context, const Kernel& kernel);
  void decorate(const TextEditor::Decorator& line, const std::vector<SourceMark>& marks, const CodeState* code) const;

  TextEditor editor_;
  SourceEdits edits_;
  uint64_t copy_asked_ = 0;  // number of the pending request for a copy
  int64_t copy_line_ = 0;
  bool closing_ = false;      // closes when the text is saved
  std::optional<Next> next_;  // what is edited after that
  int64_t cursor_line_ = 0;
  bool changed_ = false;  // a person has typed since the text was taken
  // Counts down until the editor takes the keyboard focus, because a panel that comes to the front takes it first.
  int focus_frames_ = 0;
  std::vector<SourceMark> marks_;  // the marks set in the editor
  ThemeMode theme_ = ThemeMode::dark;
  bool themed_ = false;
};

}  // namespace attnscope::ui
