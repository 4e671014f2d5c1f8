#include "ui/panels/fragment_pane.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

constexpr float kLeastCell = 1.75f, kMostCell = 2.7f;  // ems
constexpr float kGap = 1.6f;                           // ems between two grids
constexpr float kTint = 0.3f;                          // alpha of a register's colour behind a lane's number

float names_width(const std::vector<std::string>& names) {
  float widest = 0;
  for (const std::string& name : names) widest = std::max(widest, width_of(name));
  return widest + em(0.5f);
}

// Cells of the same registers have one colour.
ImU32 colour_of_register(const MatrixFragment& of, int64_t reg) {
  const auto group = static_cast<size_t>(reg / charts::registers_per_cell(of));
  return palette().buffers[group % std::size(palette().buffers)];
}

std::string instruction_text(const Listing& listing, int64_t at) {
  return fmt::format("{:04x}  {}", at * 16, listing.lines[static_cast<size_t>(at)].text);
}

void centred(ImVec2 corner, ImVec2 size, const std::string& words, ImU32 colour) {
  const ImVec2 at{corner.x + (size.x - width_of(words)) / 2, corner.y + (size.y - ImGui::GetTextLineHeight()) / 2};
  ImGui::GetWindowDrawList()->AddText(at, colour, words.c_str());
}

// Includes the names of its rows and the text around it.
float width_of_grid(const charts::FragmentGrid& grid, float cell) {
  const float cells = names_width(grid.row_names) + static_cast<float>(grid.column_names.size()) * cell;
  ImGui::PushFont(fonts().strong, kSmallSize);
  float widest = std::max(cells, width_of(grid.title));
  ImGui::PopFont();
  for (const std::string& where : grid.where) widest = std::max(widest, width_of(where));
  return widest;
}

}  // namespace

int64_t FragmentPane::draw(const CodeState& code) {
  refresh(code);
  if (facts_->matrices.empty()) {
    wrapped("This code has no Tensor Core products and no matrix loads, or the emulator has not decoded it.",
            palette().dim, kSmallSize);
    return -1;
  }
  ImGui::PushFont(fonts().mono, kSmallSize);
  const int64_t chosen = draw_choice();
  draw_a(code);
  if (ImGui::BeginChild("fragments", {0, 0}, 0, ImGuiWindowFlags_HorizontalScrollbar)) draw_grids();
  ImGui::EndChild();
  ImGui::PopFont();
  return chosen;
}

void FragmentPane::refresh(const CodeState& code) {
  listing_ = code.listing();
  facts_ = &code.facts();
  if (arrivals_ != code.arrivals()) {
    arrivals_ = code.arrivals();
    shown_ = -1;
  }
  if (facts_->matrices.empty()) return;
  const auto has = [&](int64_t at) { return std::ranges::binary_search(facts_->matrices, at); };
  int64_t wanted = has(shown_) ? shown_ : facts_->matrices.front();
  elsewhere_ = false;
  if (has(code.instruction())) {
    wanted = code.instruction();
  } else if (code.line() > 0) {
    const auto& by_line = code.view().instructions_of;
    const auto line = static_cast<size_t>(code.line()) - 1;  // a finding may name a line that the text lacks
    const auto of = line < by_line.size() ? std::span<const int64_t>(by_line[line]) : std::span<const int64_t>();
    const auto first = std::ranges::find_if(of, has);
    elsewhere_ = first == of.end();
    if (!elsewhere_) wanted = *first;
  }
  if (wanted == shown_) return;
  shown_ = wanted;
  fragments_ = listing_->lines[static_cast<size_t>(shown_)].fragments;
  grids_ = charts::fragment_grids(fragments_);
}

// Chooses the instruction and the lane.
int64_t FragmentPane::draw_choice() {
  int64_t chosen = -1;
  const auto at = std::ranges::lower_bound(facts_->matrices, shown_) - facts_->matrices.begin();
  const auto count = static_cast<std::ptrdiff_t>(facts_->matrices.size());
  if (ImGui::SmallButton("<##fragment")) chosen = facts_->matrices[static_cast<size_t>((at + count - 1) % count)];
  tooltip("The instruction with matrices before");
  ImGui::SameLine(0, em(0.3f));
  if (ImGui::SmallButton(">##fragment")) chosen = facts_->matrices[static_cast<size_t>((at + 1) % count)];
  tooltip("The next instruction with matrices");
  ImGui::SameLine(0, em(0.5f));
  const float lane_width = em(9), room = ImGui::GetContentRegionAvail().x - lane_width - em(0.8f);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {em(0.3f), 0});
  ImGui::SetNextItemWidth(std::clamp(room, em(8), em(34)));
  if (ImGui::BeginCombo("##fragments", instruction_text(*listing_, shown_).c_str())) {
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(facts_->matrices.size()));
    while (clipper.Step())
      for (int row = clipper.DisplayStart; row < clipper.DisplayEnd; ++row) {
        const int64_t one = facts_->matrices[static_cast<size_t>(row)];
        if (ImGui::Selectable(fmt::format("{}###at{}", instruction_text(*listing_, one), one).c_str(), one == shown_))
          chosen = one;
      }
    ImGui::EndCombo();
  }
  tooltip("The instruction whose matrices are shown");
  ImGui::SameLine(0, em(0.8f));
  ImGui::SetNextItemWidth(lane_width);
  ImGui::SliderInt("##lane", &lane_, 0, 31, "lane %d", ImGuiSliderFlags_AlwaysClamp);
  tooltip("The lane whose elements are marked. A click into a matrix chooses the lane that holds that element.");
  ImGui::PopStyleVar();
  return chosen;
}

// Whether A has these matrices at the same line, whatever their registers.
void FragmentPane::draw_a(const CodeState& code) const {
  const std::vector<int64_t>& lines = code.view().lines_of[static_cast<size_t>(shown_)];
  const charts::CodeGhost* const ghost = code.ghost();
  if (ghost == nullptr || !ghost->has_lines() || lines.empty()) return;
  const auto alike = [](MatrixFragment one, MatrixFragment other) {
    one.first = other.first = 0;
    return one == other;
  };
  std::string others;
  bool same = false;
  for (const int64_t at : ghost->view.instructions_of[static_cast<size_t>(lines.front()) - 1]) {
    const CodeLine& line = code.listing_a()->lines[static_cast<size_t>(at)];
    same = same || (!line.fragments.empty() && std::ranges::equal(line.fragments, fragments_, alike));
    if (!line.fragments.empty() && others.empty()) others = line.text;
  }
  clipped(same             ? "A has the same matrices at this line."
          : others.empty() ? "A has no matrices at this line."
                           : "A has other matrices at this line: " + others,
          ImGui::GetContentRegionAvail().x, same ? palette().dim : palette().text);
}

void FragmentPane::draw_grids() {
  hovered_ = std::exchange(next_hovered_, -1);
  std::string note = charts::fragment_note(fragments_);
  if (elsewhere_) note = "The chosen line has no matrices; these are of another. " + note;
  if (!note.empty()) wrapped(note, elsewhere_ ? palette().warn : palette().dim);
  const float room = ImGui::GetContentRegionAvail().x;
  float fixed = 0, columns = 0;  // the width that does not grow with the cells, and the number of cells side by side
  for (const charts::FragmentGrid& grid : grids_) {
    fixed += names_width(grid.row_names) + em(kGap);
    columns += static_cast<float>(grid.column_names.size());
  }
  const float fits = (room - fixed) / columns, cell = std::clamp(fits, em(kLeastCell), em(kMostCell));
  float left = 0;  // where the next grid of the row begins
  for (const charts::FragmentGrid& grid : grids_) {
    const float width = width_of_grid(grid, cell);
    if (&grid != &grids_.front() && left >= width) {
      ImGui::SameLine(0, em(kGap));
    } else {
      left = room;
    }
    left -= width + em(kGap);
    draw_grid(grid, cell, width);
  }
}

void FragmentPane::draw_grid(const charts::FragmentGrid& grid, float cell, float width) {
  const Palette& p = palette();
  const ImVec2 size{cell, ImGui::GetTextLineHeight() + em(0.2f)};
  const float names = names_width(grid.row_names);
  const int64_t step = grid.of.front().by_columns ? 1 : grid.of.front().run;
  ImGui::BeginGroup();
  ImGui::PushFont(fonts().strong, kSmallSize);
  text(grid.title);
  ImGui::PopFont();
  for (const std::string& where : grid.where) dim_text(where);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  const ImVec2 pen = ImGui::GetCursorScreenPos();
  for (size_t column = 0; column < grid.column_names.size();
       ++column)  // the first of a cell, because there is no room for more
    centred({pen.x + names + static_cast<float>(column) * cell, pen.y}, size,
            std::to_string(static_cast<int64_t>(column) * step), p.faint);
  for (size_t row = 0; row < grid.row_names.size(); ++row) {
    const float y = pen.y + static_cast<float>(row + 1) * size.y;
    const std::string& name = grid.row_names[row];
    centred({pen.x + names - em(0.4f) - width_of(name), y}, {width_of(name), size.y}, name, p.faint);
    for (size_t column = 0; column < grid.column_names.size(); ++column) {
      ImGui::SetCursorScreenPos({pen.x + names + static_cast<float>(column) * cell, y});
      draw_cell(grid, row, column, size);
    }
  }
  ImGui::SetCursorScreenPos({pen.x, pen.y + static_cast<float>(grid.row_names.size() + 1) * size.y});
  ImGui::Dummy({width, em(0.3f)});
  ImGui::PopStyleVar();
  draw_held(grid, width);
  ImGui::EndGroup();
}

void FragmentPane::draw_cell(const charts::FragmentGrid& grid, size_t row, size_t column, ImVec2 size) {
  const Palette& p = palette();
  const FragmentPlace& place = grid.cell(row, column);
  const ImVec2 corner = ImGui::GetCursorScreenPos(), end{corner.x + size.x - 1, corner.y + size.y - 1};
  const int lane = static_cast<int>(place.lane);
  if (ImGui::InvisibleButton(fmt::format("##{} {} {}", grid.title[0], row, column).c_str(), size)) lane_ = lane;
  if (ImGui::IsItemHovered()) next_hovered_ = lane;
  const bool marked = lane == lane_, pointed = lane == hovered_;
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(corner, end,
                      marked ? p.accent : with_alpha(colour_of_register(grid.of.front(), place.reg), kTint));
  if (pointed) list->AddRect(corner, end, p.text, em(0.12f));
  centred(corner, {size.x - 1, size.y - 1}, std::to_string(lane), marked ? p.on_accent : p.text);
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) return;
  std::string words = fmt::format("Lane {}", lane);
  for (const MatrixFragment& of : grid.of)
    words += fmt::format("\n{} {}, {} in {}", to_string(of.matrix), grid.row_names[row], grid.column_names[column],
                         charts::registers_text(of, place));
  tooltip(words);
}

// The elements of the marked lane by register, in the colours of the cells.
void FragmentPane::draw_held(const charts::FragmentGrid& grid, float width) const {
  const auto lane = static_cast<uint32_t>(hovered_ >= 0 ? hovered_ : lane_);
  const MatrixFragment& of = grid.of.back();
  clipped(fmt::format("Lane {} holds of {}", lane, to_string(of.matrix)), width, palette().dim);
  for (const charts::HeldRegister& held : charts::held_registers(of, lane)) {
    const ImVec2 pen = ImGui::GetCursorScreenPos();
    const float side = em(0.6f), top = pen.y + (ImGui::GetTextLineHeight() - side) / 2;
    ImGui::GetWindowDrawList()->AddRectFilled({pen.x, top}, {pen.x + side, top + side},
                                              colour_of_register(of, held.reg));
    ImGui::SetCursorScreenPos({pen.x + em(0.9f), pen.y});
    clipped(held.text, width - em(0.9f), palette().text);
  }
}

}  // namespace attnscope::ui
