#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ui/panels/code_state.h"

namespace attnscope::ui {

// One row of code in a child window that scrolls. It reaches the rows above and below, so that lit neighbours touch.
class CodeRow {
 public:
  CodeRow();  // at the cursor
  void fill(ImU32 colour, float alpha) const;
  void outline(ImU32 colour) const;
  bool button(const std::string& id) const;  // true: it was clicked
  // Text that is scrolled to the side, and is seen only from `offset` on.
  void scrolled(float offset, std::string_view words, ImU32 colour) const;

  const ImVec2 pen;  // of scrolled content
  const float left;  // of the window, however far it is scrolled

 private:
  const float width_, top_, bottom_;
};
// Brings the row near the middle of the window, unless it is in sight.
void scroll_to_row(int64_t row);

// The columns of heat that have room in that width: those with a figure, at least the chosen one.
std::vector<charts::HeatColumn> shown_columns(const CodeState& code, float width);
float heat_width(const std::vector<charts::HeatColumn>& columns);
// Their names over the figures; a click chooses the column that is the heat.
void heat_header(CodeState& code, const std::vector<charts::HeatColumn>& columns);
// Figures from `pen` on, each over its heat. `lines`: of the source's line `at`, from 0; else of instruction `at`.
void heat_cells(const CodeState& code, const std::vector<charts::HeatColumn>& columns, bool lines, size_t at,
                ImVec2 pen);

// SASS with its columns of heat, scheduling half, live registers, jumps, and marks of what the chosen instruction
// depends on and what depends on it. `reveal`: scrolls to that instruction, -1: none. `search` marks what has it.
// Returns the instruction that was clicked, or -1.
int64_t draw_sass(CodeState& code, int64_t reveal, const std::string& search);
// PTX, lit by the chosen line. Returns the source line of the one that was clicked, or 0.
int64_t draw_ptx(const CodeState& code, bool reveal, const std::string& search);
// What changed since A. Returns the clicked row, or null.
const ChangeLine* draw_changes(const CodeState& code, const std::vector<ChangeLine>& changes);

// Whether `text` has `words`, whatever the case of ASCII letters; no words are nowhere.
bool finds(std::string_view text, std::string_view words);

}  // namespace attnscope::ui
