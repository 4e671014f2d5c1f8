#include "ui/panels/code_panes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "ui/found_words.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

using charts::HeatColumn;

constexpr float kRoomForCode = 30;  // ems that a pane must leave for the code before it shows a second column
constexpr double kReadable = 0.25;  // hotter cells need the contrast of plain text
constexpr float kMostHeat = 0.55f;  // alpha of the hottest cell
// Ems from which a pane shows the whole scheduling half, not only the stall count.
constexpr float kRoomForControl = 40;
constexpr size_t kControlWidth = 18, kStallWidth = 3;  // characters of control_text, and of its stall count

float cell_width() { return width_of("000.0 \u00b5s") + em(0.75f); }

void at(ImVec2 pen, std::string_view words, ImU32 colour) {
  ImGui::SetCursorScreenPos(pen);
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  text(words);
  ImGui::PopStyleColor();
}

const charts::CodeLink* link_to(const std::vector<charts::CodeLink>& links, int64_t instruction) {
  const auto found = std::ranges::find(links, instruction, &charts::CodeLink::at);
  return found == links.end() ? nullptr : &*found;
}

// A name in the line of heat_header(), above a column that begins at `left`.
void heading(float left, float top, const char* name, const char* says) {
  at({left, top}, name, palette().dim);
  tooltip(says);
}

ImU32 heat_colour(HeatColumn column) {
  switch (column) {
    case HeatColumn::time:
      return palette().modelled;
    case HeatColumn::samples:
      return palette().measured;
    case HeatColumn::races:
      return palette().bad;
    default:
      return palette().counted;
  }
}

// B's figure above A's, as bars on the scale of the larger one's hottest line. `low`: the cell's lower left.
void ghost_bars(double of_b, double of_a, double most, ImU32 colour, ImVec2 low) {
  if (most <= 0) return;
  const float width = cell_width() - em(0.25f), thick = std::max(1.0f, std::floor(em(0.09f)));
  const auto bar = [&](double figure, float above, ImU32 fill) {
    const float length = width * f32(figure / most);
    if (length < 1) return;
    ImGui::GetWindowDrawList()->AddRectFilled({low.x, low.y - above - thick}, {low.x + length, low.y - above}, fill);
  };
  bar(of_b, thick, colour);
  bar(of_a, 0, palette().text);
}

class SassPane {
 public:
  SassPane(CodeState& code, const std::string& search) : code_(code), listing_(*code.listing()), search_(search) {}

  int64_t draw(int64_t reveal) {
    columns_ = shown_columns(code_, ImGui::GetContentRegionAvail().x);
    whole_control_ = ImGui::GetContentRegionAvail().x > em(kRoomForControl);
    ImGui::PushFont(fonts().mono, kSmallSize);
    const ImVec2 header = ImGui::GetCursorScreenPos();
    heat_header(code_, columns_);
    const ImVec2 after = ImGui::GetCursorScreenPos();
    lay_out(header.x);
    heading(address_at_, header.y, "addr", "Where the instruction lies in the machine code");
    heading(control_at_, header.y, whole_control_ ? "schedule" : "next",
            whole_control_ ? "Which scoreboards it waits for, which it releases when its sources are read (R) and when "
                             "its result is there (W), whether another warp is preferred then (Y), and after how many "
                             "clocks the warp's next instruction comes at the earliest (S)"
                           : "After how many clocks the warp's next instruction comes at the earliest");
    heading(live_at_, header.y, "live", "How many registers hold a value that is read later");
    ImGui::SetCursorScreenPos(after);
    if (ImGui::BeginChild("sass", {0, 0}, 0, ImGuiWindowFlags_HorizontalScrollbar)) {
      if (reveal >= 0) scroll_to_row(reveal);
      const ImVec2 top = ImGui::GetCursorScreenPos();
      ImGuiListClipper clipper;
      clipper.Begin(static_cast<int>(listing_.lines.size()));
      while (clipper.Step())
        for (int row = clipper.DisplayStart; row < clipper.DisplayEnd; ++row) draw_row(row);
      draw_links(top.y);
    }
    ImGui::EndChild();
    ImGui::PopFont();
    return clicked_;
  }

 private:
  void lay_out(float left) {
    const float letter = width_of("0");
    links_at_ = left + heat_width(columns_);
    address_at_ = links_at_ + em(1.6f);
    control_at_ = address_at_ + 6 * letter;
    live_at_ = control_at_ + static_cast<float>((whole_control_ ? kControlWidth : kStallWidth) + 3) * letter;
    text_at_ = live_at_ + 5 * letter;
  }

  // What precedes the text stays visible when the text is scrolled horizontally.
  void draw_row(int64_t row) {
    const CodeLine& line = listing_.lines[static_cast<size_t>(row)];
    const Palette& p = palette();
    const CodeRow place;
    const ImVec2 pen = place.pen;
    const charts::CodeLink* producer = link_to(code_.producers(), row);
    const charts::CodeLink* consumer = link_to(code_.consumers(), row);
    if (code_.lights_instruction(row)) place.fill(p.accent, 0.13f);
    if (finds(line.text, search_)) place.fill(p.warn, 0.16f);
    if (place.button(fmt::format("##sass{}", row))) clicked_ = row;
    const bool hovered = ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip);
    if (row == code_.instruction()) place.outline(p.accent);
    std::string words = line.text;
    for (const int64_t target : line.targets)
      words += fmt::format("  {} {:04x}", target > row ? "\u2193" : "\u2191", target * 16);
    place.scrolled(text_at_ - place.left, words, line.targets.empty() ? p.text : p.accent);
    heat_cells(code_, columns_, false, static_cast<size_t>(row), {place.left, pen.y});
    if (producer != nullptr) at({links_at_, pen.y}, "<", p.measured);
    if (consumer != nullptr) at({links_at_ + em(0.6f), pen.y}, ">", p.counted);
    at({address_at_, pen.y}, fmt::format("{:04x}", row * 16), p.faint);
    const std::string control = charts::control_text(line.control);
    at({control_at_, pen.y}, whole_control_ ? control : control.substr(kControlWidth - kStallWidth), p.dim);
    const int live = code_.facts().live[static_cast<size_t>(row)];
    if (live > 0) at({live_at_, pen.y}, fmt::format("{:4}", live), p.faint);
    if (hovered) tell(row, line, producer, consumer);
  }

  void tell(int64_t row, const CodeLine& line, const charts::CodeLink* producer,
            const charts::CodeLink* consumer) const {
    std::string words = charts::control_words(line.control);
    if (const std::string places = charts::places_text(listing_, line); !places.empty()) words = places + "\n" + words;
    const auto at = static_cast<size_t>(row);
    const charts::CodeGhost* const ghost = code_.ghost();
    for (const HeatColumn column : charts::kHeatColumns)
      if (const std::string figure = charts::figure_beside(
              code_.view().instructions[at], ghost != nullptr ? ghost->at_instruction(at, column) : nullptr, column);
          !figure.empty())
        words += fmt::format("\n{}: {}", to_string(column), figure);
    if (ghost != nullptr && at < ghost->aligned.size() && ghost->aligned[at] < 0)
      words += "\nA does not have this instruction.";
    if (producer != nullptr) words += "\nThe chosen instruction needs its " + producer->by + ".";
    if (consumer != nullptr) words += "\nIt needs the chosen instruction's " + consumer->by + ".";
    text_tooltip(words, 30);
  }

  // Lines from the chosen instruction to those that it depends on (left) and that depend on it (right), and to where it
  // jumps.
  void draw_links(float top) const {
    const int64_t from = code_.instruction();
    if (from < 0) return;
    const float step = ImGui::GetTextLineHeightWithSpacing(), half = ImGui::GetTextLineHeight() / 2;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const auto y_of = [&](int64_t row) { return top + static_cast<float>(row) * step + half; };
    const auto bracket = [&](int64_t to, float x, ImU32 colour) {
      const float reach = em(0.35f);
      list->AddLine({x + reach, y_of(from)}, {x, y_of(from)}, colour, 1.5f);
      list->AddLine({x, y_of(from)}, {x, y_of(to)}, colour, 1.5f);
      list->AddLine({x, y_of(to)}, {x + reach, y_of(to)}, colour, 1.5f);
    };
    for (const charts::CodeLink& link : code_.producers()) bracket(link.at, links_at_ - em(0.15f), palette().measured);
    for (const charts::CodeLink& link : code_.consumers()) bracket(link.at, links_at_ + em(1.15f), palette().counted);
    for (const int64_t target : listing_.lines[static_cast<size_t>(from)].targets)
      bracket(target, text_at_ - em(0.5f), palette().accent);
  }

  CodeState& code_;
  const Listing& listing_;
  const std::string& search_;
  std::vector<HeatColumn> columns_;
  float links_at_ = 0, address_at_ = 0, control_at_ = 0, live_at_ = 0, text_at_ = 0;
  bool whole_control_ = true;
  int64_t clicked_ = -1;
};

}  // namespace

CodeRow::CodeRow()
    : pen(ImGui::GetCursorScreenPos()),
      left(pen.x + ImGui::GetScrollX()),
      width_(ImGui::GetContentRegionAvail().x),
      top_(std::floor(pen.y - ImGui::GetStyle().ItemSpacing.y / 2)),
      bottom_(std::floor(pen.y - ImGui::GetStyle().ItemSpacing.y / 2 + ImGui::GetTextLineHeightWithSpacing())) {}

void CodeRow::fill(ImU32 colour, float alpha) const {
  ImGui::GetWindowDrawList()->AddRectFilled({left, top_}, {left + width_, bottom_}, with_alpha(colour, alpha));
}

void CodeRow::outline(ImU32 colour) const {
  ImGui::GetWindowDrawList()->AddRect({left, top_}, {left + width_, bottom_}, colour, em(0.1f));
}

// As wide as the visible part, because a wider one would extend the scrolled content.
bool CodeRow::button(const std::string& id) const {
  ImGui::SetCursorScreenPos({left, pen.y});
  return ImGui::Selectable(id.c_str(), false, 0, {width_, ImGui::GetTextLineHeight()});
}

void CodeRow::scrolled(float offset, std::string_view words, ImU32 colour) const {
  ImGui::PushClipRect({left + offset, -FLT_MAX}, {FLT_MAX, FLT_MAX}, true);
  at({pen.x + offset, pen.y}, words.empty() ? std::string_view(" ") : words, colour);
  ImGui::PopClipRect();
}

// Scrolls only to whole rows.
void scroll_to_row(int64_t row) {
  const float step = ImGui::GetTextLineHeightWithSpacing(), height = ImGui::GetWindowHeight();
  const float middle = (static_cast<float>(row) + 0.5f) * step;
  const bool visible = middle > ImGui::GetScrollY() + step && middle < ImGui::GetScrollY() + height - step;
  if (!visible) ImGui::SetScrollY(std::max(0.0f, std::floor((middle - height / 2) / step) * step));
}

std::vector<HeatColumn> shown_columns(const CodeState& code, float width) {
  float room = width - em(kRoomForCode) - cell_width();  // besides the chosen one
  std::vector<HeatColumn> columns;
  for (const HeatColumn column : charts::kHeatColumns) {
    if (!code.view().has(column) || (column != code.column && room < cell_width())) continue;
    if (column != code.column) room -= cell_width();
    columns.push_back(column);
  }
  return columns;
}

float heat_width(const std::vector<HeatColumn>& columns) {
  return columns.empty() ? 0 : static_cast<float>(columns.size()) * cell_width() + em(0.5f);
}

void heat_header(CodeState& code, const std::vector<HeatColumn>& columns) {
  const ImVec2 pen = ImGui::GetCursorScreenPos();
  const float cell = cell_width();
  for (size_t i = 0; i < columns.size(); ++i) {
    const char* name = charts::heading_of(columns[i]);
    const ImVec2 corner{pen.x + static_cast<float>(i) * cell, pen.y};
    ImGui::SetCursorScreenPos(corner);
    if (ImGui::InvisibleButton(fmt::format("##heat {}", name).c_str(), {cell, ImGui::GetTextLineHeight()}))
      code.column = columns[i];
    tooltip(std::string(to_string(columns[i])) + ". Click: \"next hot\" uses this figure." +
            (code.ghost() != nullptr && code.ghost()->knows(columns[i])
                 ? " Under a figure are two thin bars on one scale, B's above A's."
                 : ""));
    at({corner.x + cell - em(0.5f) - width_of(name), pen.y}, name,
       columns[i] == code.column ? palette().accent : palette().dim);
  }
  ImGui::SetCursorScreenPos({pen.x, pen.y});
  ImGui::Dummy({0, ImGui::GetTextLineHeight()});
}

void heat_cells(const CodeState& code, const std::vector<HeatColumn>& columns, bool lines, size_t row, ImVec2 pen) {
  const charts::CodeView& view = code.view();
  const std::vector<charts::Heat>& all = lines ? view.lines : view.instructions;
  if (row >= all.size()) return;
  const float cell = cell_width(), height = ImGui::GetTextLineHeight();
  const charts::CodeGhost* const ghost = code.ghost();
  for (size_t i = 0; i < columns.size(); ++i) {
    const HeatColumn column = columns[i];
    const charts::Heat* const a = ghost == nullptr ? nullptr
                                  : lines          ? ghost->at_line(row, column)
                                                   : ghost->at_instruction(row, column);
    if (a != nullptr)
      ghost_bars(all[row].of(column), a->of(column),
                 std::max(view.hottest(lines)[size_t(column)], ghost->view.hottest(lines)[size_t(column)]),
                 heat_colour(column), {pen.x + static_cast<float>(i) * cell, pen.y + height});
    const std::string figure = all[row].text(column);
    if (figure.empty()) continue;
    const double share = lines ? view.share_of_line(row, column) : view.share_of_instruction(row, column);
    const ImVec2 corner{pen.x + static_cast<float>(i) * cell, pen.y};
    const ImU32 colour = heat_colour(column);
    ImGui::GetWindowDrawList()->AddRectFilled(corner, {corner.x + cell - em(0.25f), corner.y + height},
                                              with_alpha(colour, kMostHeat * f32(share)), em(0.1f));
    at({corner.x + cell - em(0.5f) - width_of(figure), corner.y}, figure,
       column == code.column || share > kReadable ? palette().text : palette().dim);
  }
}

int64_t draw_sass(CodeState& code, int64_t reveal, const std::string& search) {
  return SassPane(code, search).draw(reveal);
}

int64_t draw_ptx(const CodeState& code, bool reveal, const std::string& search) {
  int64_t clicked = 0;
  ImGui::PushFont(fonts().mono, kSmallSize);
  dim_text("PTX");  // as high as the heat's header, so that the rows align with the source's
  if (ImGui::BeginChild("ptx", {0, 0}, 0, ImGuiWindowFlags_HorizontalScrollbar)) {
    const auto lit = [&](const charts::PtxLine& line) {
      return std::ranges::find(line.lines, code.line()) != line.lines.end();
    };
    if (reveal)
      if (const auto first = std::ranges::find_if(code.facts().ptx, lit); first != code.facts().ptx.end())
        scroll_to_row(first - code.facts().ptx.begin());
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(code.facts().ptx.size()));
    while (clipper.Step())
      for (int row = clipper.DisplayStart; row < clipper.DisplayEnd; ++row) {
        const charts::PtxLine& line = code.facts().ptx[static_cast<size_t>(row)];
        const CodeRow place;
        const bool found = finds(line.text, search);
        if (found || (code.line() > 0 && lit(line))) place.fill(found ? palette().warn : palette().accent, 0.15f);
        if (place.button(fmt::format("##ptx{}", row)) && !line.lines.empty()) clicked = line.lines.front();
        place.scrolled(0, line.text, line.lines.empty() ? palette().dim : palette().text);
      }
  }
  ImGui::EndChild();
  ImGui::PopFont();
  return clicked;
}

const ChangeLine* draw_changes(const CodeState& code, const std::vector<ChangeLine>& changes) {
  using Kind = ChangeLine::Kind;
  const ChangeLine* clicked = nullptr;
  ImGui::PushFont(fonts().mono, kSmallSize);
  dim_text("A \u2192 B");
  if (ImGui::BeginChild("changes", {0, 0}, 0, ImGuiWindowFlags_HorizontalScrollbar)) {
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(changes.size()));
    while (clipper.Step())
      for (int row = clipper.DisplayStart; row < clipper.DisplayEnd; ++row) {
        const ChangeLine& line = changes[static_cast<size_t>(row)];
        const Palette& p = palette();
        const bool removed = line.kind == Kind::removed, added = line.kind == Kind::added;
        const CodeRow place;
        if (removed || added) place.fill(removed ? p.bad : p.good, 0.14f);
        if (place.button(fmt::format("##change{}", row))) clicked = &line;
        const bool chosen = line.instruction >= 0 && line.instruction == code.instruction();
        place.scrolled(em(1), line.text,
                       chosen                       ? p.accent
                       : line.kind == Kind::heading ? p.text
                       : removed || added           ? p.text
                                                    : p.dim);
        at({place.left, place.pen.y}, removed ? "\u2212" : added ? "+" : " ", removed ? p.bad : p.good);
      }
  }
  ImGui::EndChild();
  ImGui::PopFont();
  return clicked;
}

bool finds(std::string_view text, std::string_view words) { return !words.empty() && holds_words(text, words); }

}  // namespace attnscope::ui
