#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ui/panels/banks_pane.h"
#include "ui/panels/code_panes.h"
#include "ui/panels/code_state.h"
#include "ui/panels/fragment_pane.h"
#include "ui/panels/panel.h"
#include "ui/panels/softmax_pane.h"
#include "ui/panels/source_editor.h"
#include "ui/panels/source_marks.h"

namespace attnscope::ui {

// Why the source of that kernel (null: none) cannot be edited; empty if it can.
std::string why_not_edited(const Kernel* kernel);

// The kernel's source with the counts and time of each line, the lines that findings and compiler errors name, and
// beside it the SASS, the PTX or the changes since A. Choosing a line or an instruction highlights the other. A copy's
// source is edited here.
class SourcePanel : public Panel {
 public:
  const char* title() const override { return "Source"; }
  Dock dock() const override { return Dock::below; }
  void draw(Context& context) override;
  // Scrolls to that line and outlines it.
  void show_line(int64_t line);
  // Shows the matrices of that line's instructions, lane by lane, beside the source.
  void show_fragments(int64_t line);
  // Edits the shown kernel's source if it is a copy, otherwise a new copy of it.
  void edit(Context& context);
  void end_edit(session::Session& session) { editor_.close(session); }
  bool edits() const { return editor_.is_open(); }
  SourceEditor& editor() { return editor_; }
  // Shows the softmax state of that row beside the source. The tile is counted from 1.
  void show_softmax(const SoftmaxRow& row, int64_t tile);
  int64_t shown_line() const { return code_.line(); }  // 0: none was requested
  bool makes() const;                                  // what it draws is not there yet

 private:
  enum class Beside { nothing, sass, ptx, changes, edits, banks, fragments, softmax };

  void refresh(const Context& context, const Kernel& kernel);
  void draw_header(Context& context, const Kernel& kernel);
  void draw_tools(const Context& context, const Kernel& kernel);
  void draw_source(Context& context, const Kernel& kernel);
  Beside beside() const { return wide_ || beside_wished_ ? beside_ : Beside::nothing; }
  void draw_lines();
  void draw_line(size_t at, float gutter, const std::vector<charts::HeatColumn>& columns);
  void draw_beside(Context& context, const Kernel& kernel);
  void choose_line(int64_t line);
  void choose_instruction(int64_t at);
  void step(int direction);
  void step_hot();
  void choose_column();
  void find_next();

  std::string lines_of_;                 // content hash of the kernel that the lines belong to
  std::string text_;                     // the kernel's source
  std::vector<std::string_view> lines_;  // views into text_
  std::vector<bool> comment_;            // by line: it contains only a comment
  SourceLines source_;                   // maps the lines to files
  std::vector<SourceMark> marks_;
  session::Shared<Observation> marks_of_;
  std::string failure_of_;
  CodeState code_;
  int drawn_in_ = -1;  // the last frame in which the panel was drawn
  BanksPane banks_;
  FragmentPane fragments_;
  SourceEditor editor_;
  bool typed_ = false;  // the editor was drawn in the previous frame
  SoftmaxPane softmax_;
  Beside beside_ = Beside::sass;
  bool wide_ = true;            // there is room for both; otherwise one of them is shown
  bool beside_wished_ = false;  // a person chose it; otherwise a narrow panel shows the source
  std::string search_;
  bool reveal_ = false;              // scrolls the source to the chosen line
  bool reveal_ptx_ = false;          // the same in the PTX
  int64_t reveal_instruction_ = -1;  // scrolls the SASS to this instruction; -1: none
};

}  // namespace attnscope::ui
