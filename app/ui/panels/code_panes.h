#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ui/panels/code_state.h"

namespace attnscope::ui {

// One row of code in a scrolling child window. It extends to the rows above and below, so that highlighted neighbours
// touch.
class CodeRow {
 public:
  CodeRow();  // at the cursor
  void fill(ImU32 colour, float alpha) const;
  void outline(ImU32 colour) const;
  bool button(const std::string& id) const;  // returns true if it was clicked
  // Text that scrolls horizontally and is visible only from `offset` on.
  void scrolled(float offset, std::string_view words, ImU32 colour) const;

  const ImVec2 pen;  // position of the scrolled content
  const float left;  // of the window, independent of scrolling

 private:
  const float width_, top_, bottom_;
};
// Brings the row near the middle of the window, unless it is visible.
void scroll_to_row(int64_t row);

// The columns of heat that fit into that width: those with a figure, and always the chosen one.
std::vector<charts::HeatColumn> shown_columns(const CodeState& code, float width);
float heat_width(const std::vector<charts::HeatColumn>& columns);
// The columns' names above the figures. A click makes that column the heat.
void heat_header(CodeState& code, const std::vector<charts::HeatColumn>& columns);
// Draws figures from `pen` on, each over its heat, with A's as a thin bar below B's. `lines`: `at` is a source line,
// from 0; otherwise it is an instruction.
void heat_cells(const CodeState& code, const std::vector<charts::HeatColumn>& columns, bool lines, size_t at,
                ImVec2 pen);

// Draws SASS with its columns of heat, scheduling half, live registers, jumps, and marks for what the chosen
// instruction depends on and what depends on it. `reveal`: scrolls to that instruction; -1: none. Matches of `search`
// are marked. Returns the instruction that was clicked, or -1.
int64_t draw_sass(CodeState& code, int64_t reveal, const std::string& search);
// Draws PTX and highlights what comes from the chosen line. Returns the source line of the clicked PTX line, or 0.
int64_t draw_ptx(const CodeState& code, bool reveal, const std::string& search);
// Draws the changes since A. Returns the clicked row, or null.
const ChangeLine* draw_changes(const CodeState& code, const std::vector<ChangeLine>& changes);

// True if `text` contains `words`, ignoring the case of ASCII letters. Empty words are never found.
bool finds(std::string_view text, std::string_view words);

}  // namespace attnscope::ui
