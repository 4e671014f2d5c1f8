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

// The source of a kernel that is a copy, edited in the Source panel: what is typed is written into the copy's file
// after a short pause, and runs.
class SourceEditor {
 public:
  SourceEditor();
  SourceEditor(const SourceEditor&) = delete;
  SourceEditor& operator=(const SourceEditor&) = delete;

  // Opens the shown kernel's source, if it is a copy; of another kernel it asks the session for a copy first. What is
  // typed in the source before it is saved first.
  void edit(Context& context, const Kernel& kernel, const Draft& draft, int64_t line);
  // What is typed is written at once. The editor stays open until that is done: a refusal keeps it open, and says why.
  void close(session::Session& session);
  void save_now(session::Session& session);
  void save_at_end(session::Session& session);  // the window closes
  // Every frame, seen or not: what the session says about a copy, a save, the file.
  void follow(Context& context);

  bool is_open() const { return !edits_.kernel().empty(); }
  bool is_of(const Kernel& kernel) const { return is_open() && edits_.kernel() == kernel.id; }
  const std::string& text() const { return edits_.text(); }
  // The text is the kernel's: figures by line are of these lines.
  bool is_as_in(const Kernel& kernel) const { return !edits_.unsaved() && edits_.file() == kernel.source; }
  void show_line(int64_t line);
  // What is typed cannot be written: a save was refused, or another program wrote the file.
  bool is_stuck() const { return edits_.failure().has_value() || edits_.conflict(); }
  // One line with what to do about it, while another kernel is shown.
  void draw_stuck();

  // One line that always stands there: where the text is, and what to do. `marks`: of the kernel as it ran last.
  void draw_bar(Context& context, const Kernel& kernel, const std::vector<SourceMark>& marks);
  // The text. Returns the line that the cursor came to, or 0.
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
  uint64_t copy_asked_ = 0;  // the request for a copy that is not there yet
  int64_t copy_line_ = 0;
  bool closing_ = false;      // once what is typed is saved
  std::optional<Next> next_;  // what is edited then
  int64_t cursor_line_ = 0;
  bool changed_ = false;           // by a person, since the text was taken
  int focus_frames_ = 0;           // until the editor has the keyboard: a panel that comes to the front takes it first
  std::vector<SourceMark> marks_;  // those that the editor has
  ThemeMode theme_ = ThemeMode::dark;
  bool themed_ = false;
};

}  // namespace attnscope::ui
