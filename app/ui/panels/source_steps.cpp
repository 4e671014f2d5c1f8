// The Source panel's steps from line to line: marked, hot, found.
#include <imgui.h>

#include <algorithm>
#include <string>

#include "ui/panels/source_panel.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {

// Chooses another column of heat, because a narrow pane has room for only one.
void SourcePanel::choose_column() {
  ImGui::SetNextItemWidth(width_of(to_string(charts::HeatColumn::wavefronts)) + em(2));
  if (!ImGui::BeginCombo("##by", std::string(to_string(code_.column)).c_str()))
    return tooltip("The figure that \"next hot\" uses");
  for (const charts::HeatColumn column : charts::kHeatColumns) {
    ImGui::BeginDisabled(!code_.view().has(column));
    if (ImGui::Selectable(std::string(to_string(column)).c_str(), column == code_.column)) code_.column = column;
    ImGui::EndDisabled();
  }
  ImGui::EndCombo();
}

// The hottest first; after the last one, the first again.
void SourcePanel::step_hot() {
  const bool sass_only = beside() == Beside::sass && code_.instruction() >= 0;
  const std::vector<int64_t> hot =
      sass_only ? code_.view().hot_instructions(code_.column) : code_.view().hot_lines(code_.column);
  if (hot.empty()) return;
  const auto here = std::ranges::find(hot, sass_only ? code_.instruction() : code_.line());
  const bool last = here == hot.end() || here + 1 == hot.end();
  const int64_t next = last ? hot.front() : *(here + 1);
  if (!sass_only) return show_line(next);
  choose_instruction(next);
  reveal_instruction_ = next;
}

void SourcePanel::find_next() {
  const auto count = static_cast<int64_t>(lines_.size());
  for (int64_t step = 0; step < count; ++step) {
    const int64_t at = (code_.line() + step) % count;  // starts with the line after the chosen one
    if (finds(lines_[static_cast<size_t>(at)], search_)) return show_line(at + 1);
  }
  if (code_.listing() == nullptr) return;
  const auto instructions = static_cast<int64_t>(code_.listing()->lines.size());
  for (int64_t step = 1; step <= instructions; ++step) {
    const int64_t at = (code_.instruction() + step) % instructions;
    if (!finds(code_.listing()->lines[static_cast<size_t>(at)].text, search_)) continue;
    choose_instruction(at);
    reveal_instruction_ = at;
    return;
  }
}

void SourcePanel::step(int direction) {
  if (marks_.empty()) return;
  const auto after =
      std::find_if(marks_.begin(), marks_.end(), [&](const SourceMark& m) { return m.line >= code_.line(); });
  std::ptrdiff_t at = after - marks_.begin();
  const std::ptrdiff_t count = static_cast<std::ptrdiff_t>(marks_.size());
  const bool on_one = at < count && marks_[static_cast<size_t>(at)].line == code_.line();
  at = direction > 0 ? (on_one ? at + 1 : at) : at - 1;
  show_line(marks_[static_cast<size_t>((at + count) % count)].line);
}

}  // namespace attnscope::ui
