#include "ui/panels/banks_pane.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/with_commas.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

using charts::BankPhase;
using charts::BankPicture;

constexpr int kLanes = 32, kBanks = 32;
constexpr float kGutter = 1.7f, kLeastPicture = 9.2f, kLeastHeight = 22, kStrip = 1.3f, kLoad = 1.05f;  // ems
constexpr int kWorst = 8;  // words per bank from which a cell has the full colour of a conflict
constexpr int64_t kRows[] = {0, 64, 128, 256, 512};

// A colour for a bank's load; one word at a time is what a bank can serve.
ImU32 conflict_colour(int words) {
  if (words <= 1) return palette().counted;
  return mixed(palette().warn, palette().bad, f32(std::min(words, kWorst) - 2) / f32(kWorst - 2));
}

double conflicts_of(const CodeLine& line) { return line.counts ? line.counts->wavefronts - line.counts->ideal : 0; }

std::string choice_text(const Listing& listing, int64_t at) {
  const CodeLine& line = listing.lines[size_t(at)];
  return fmt::format("{:04x}  {}", at * 16, line.text);
}

}  // namespace

void BanksPane::take(const CodeState& code) {
  facts_ = &code.facts();
  listing_ = code.listing();
  if (arrivals_ == code.arrivals() && line_ == code.line() && chosen_ == code.instruction()) return;
  arrivals_ = code.arrivals();
  line_ = code.line();
  chosen_ = code.instruction();
  const auto accesses = [&](int64_t at) { return listing_->lines[size_t(at)].shared.has_value(); };
  of_line_.clear();
  const auto& of = code.view().instructions_of;
  if (line_ > 0 && size_t(line_) <= of.size())
    std::ranges::copy_if(of[size_t(line_) - 1], std::back_inserter(of_line_), accesses);
  if (facts_->accesses.empty()) return;
  const auto conflicts = [&](int64_t at) { return conflicts_of(listing_->lines[size_t(at)]); };
  const bool is_one = std::ranges::find(facts_->accesses, chosen_) != facts_->accesses.end();
  instruction_ =
      is_one ? chosen_ : *std::ranges::max_element(of_line_.empty() ? facts_->accesses : of_line_, {}, conflicts);
  choose_step(charts::worst_step(steps()));
}

void BanksPane::choose_step(size_t step) {
  step_ = step;
  view_ = charts::access_view(facts_->buffers, steps(), step_, row_);
  if (phase_ > view_.pictures.front().grid.phases.size()) phase_ = 0;
}

int64_t BanksPane::draw(const CodeState& code) {
  take(code);
  if (facts_->accesses.empty()) {
    wrapped(listing_->counted
                ? "This run made no access to shared memory."
                : "Accesses are recorded only in emulated runs. Run this config in the emulator to see them.",
            palette().dim, kSmallSize);
    return -1;
  }
  ImGui::PushFont(nullptr, kSmallSize);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {em(0.3f), em(0.05f)});
  const int64_t clicked = draw_choice();
  draw_a(code);
  draw_steps();
  draw_phases();
  const float strip = em(kStrip) + ImGui::GetTextLineHeightWithSpacing() + ImGui::GetStyle().ItemSpacing.y;
  draw_pictures(ImGui::GetContentRegionAvail().y - (facts_->buffers.empty() ? 0 : strip));
  draw_buffers();
  ImGui::PopStyleVar();
  ImGui::PopFont();
  return clicked;
}

int64_t BanksPane::draw_choice() {
  int64_t clicked = -1;
  const float rows = width_of("rows: 512 B") + em(2.5f);
  ImGui::SetNextItemWidth(std::max(em(8), ImGui::GetContentRegionAvail().x - rows));
  const auto choice = [&](int64_t at, const char* list) {
    const double conflicts = conflicts_of(listing_->lines[size_t(at)]);
    const std::string more =
        conflicts > 0 ? fmt::format("  {} conflicts", with_commas(int64_t(std::llround(conflicts)))) : "";
    const std::string name = fmt::format("{}{}##{}{}", choice_text(*listing_, at), more, list, at);
    if (ImGui::Selectable(name.c_str(), at == instruction_)) clicked = at;
  };
  if (ImGui::BeginCombo("##access", choice_text(*listing_, instruction_).c_str(), ImGuiComboFlags_HeightLarge)) {
    for (const int64_t at : of_line_) choice(at, "line");
    if (!of_line_.empty()) ImGui::SeparatorText("every access");
    for (const int64_t at : facts_->accesses) choice(at, "all");
    ImGui::EndCombo();
  }
  tooltip("The instructions that access shared memory, first those of the chosen line");
  ImGui::SameLine(0, em(0.4f));
  draw_rows();
  if (line_ > 0 && of_line_.empty())
    clipped(fmt::format("Line {} makes no access to shared memory; this is the access with most conflicts.", line_),
            ImGui::GetContentRegionAvail().x, palette().warn);
  return clicked;
}

// The wavefronts of the shown access's line, beside A's.
void BanksPane::draw_a(const CodeState& code) const {
  const charts::CodeGhost* const ghost = code.ghost();
  const std::vector<int64_t>& lines = code.view().lines_of[size_t(instruction_)];
  const int64_t line = line_ > 0 ? line_ : lines.empty() ? 0 : lines.front();
  const charts::Heat* const of_a =
      ghost != nullptr && line > 0 ? ghost->at_line(size_t(line) - 1, charts::HeatColumn::wavefronts) : nullptr;
  if (of_a == nullptr) return;
  const auto words = [](const charts::Heat& heat) {
    return fmt::format("{} wavefronts, {} of them conflicts", with_commas(std::llround(heat.wavefronts)),
                       with_commas(std::llround(heat.conflicts)));
  };
  clipped(fmt::format("line {}: {}; A {}", line, words(code.view().lines[size_t(line) - 1]),
                      of_a->wavefronts > 0 ? words(*of_a) : "none"),
          ImGui::GetContentRegionAvail().x, palette().dim);
}

// The row length that padding and swizzle use.
void BanksPane::draw_rows() {
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
  const auto name = [&](int64_t row) {
    if (row > 0) return fmt::format("rows: {} B", row);
    return row_ == 0 && view_.row > 0 ? fmt::format("rows: {} B", view_.row) : std::string("rows: automatic");
  };
  if (ImGui::BeginCombo("##rows", name(row_).c_str())) {
    for (const int64_t row : kRows)
      if (ImGui::Selectable(row == 0 ? "automatic (from the accesses)" : fmt::format("{} B", row).c_str(),
                            row == row_)) {
        row_ = row;
        choose_step(step_);
      }
    ImGui::EndCombo();
  }
  tooltip(
      "Bytes from one row of the buffer to the next: padding stands behind each, and a swizzle stays within it. By "
      "default it is the common divisor of the lanes' addresses.");
}

void BanksPane::draw_steps() {
  const int count = int(steps().steps.size());
  int step = int(step_) + 1;
  ImGui::BeginDisabled(count == 1);
  if (ImGui::ArrowButton("##before", ImGuiDir_Left)) step = std::max(1, step - 1);
  ImGui::SameLine(0, em(0.2f));
  ImGui::SetNextItemWidth(std::min(em(14), ImGui::GetContentRegionAvail().x * 0.3f));
  ImGui::SliderInt("##step", &step, 1, count, fmt::format("step %d of {}", count).c_str(),
                   ImGuiSliderFlags_AlwaysClamp);
  tooltip("The recorded executions: the first few of each warp of one CTA, by warp");
  ImGui::SameLine(0, em(0.2f));
  if (ImGui::ArrowButton("##after", ImGuiDir_Right)) step = std::min(count, step + 1);
  ImGui::EndDisabled();
  if (step != int(step_) + 1) choose_step(size_t(step) - 1);
  ImGui::SameLine(0, em(0.6f));
  ImGui::AlignTextToFramePadding();
  clipped(fmt::format("{}: {} from {} on{}", view_.execution, charts::access_words(view_.access), view_.place,
                      view_.access.use == SharedUse::copy ? "; nothing counts a copy's wavefronts" : ""),
          ImGui::GetContentRegionAvail().x, palette().dim);
}

void BanksPane::draw_phases() {
  const std::vector<BankPhase>& phases = view_.pictures.front().grid.phases;
  const auto button = [&](const std::string& name, size_t phase, const std::string& says) {
    const bool is_it = phase == phase_;
    if (is_it) ImGui::PushStyleColor(ImGuiCol_Button, ImGui::GetStyleColorVec4(ImGuiCol_ButtonActive));
    if (ImGui::SmallButton(name.c_str())) phase_ = phase;
    if (is_it) ImGui::PopStyleColor();
    tooltip(says);
    ImGui::SameLine(0, em(0.25f));
  };
  if (phases.size() > 1) {
    button("all phases", 0, "The lanes of a wide access are served a few at a time.");
    for (size_t at = 0; at < phases.size(); ++at)
      button(fmt::format("{}##phase", at + 1), at + 1, charts::phase_text(phases[at]));
    ImGui::SameLine(0, em(0.6f));
  }
  clipped(phase_ > 0           ? charts::phase_text(phases[phase_ - 1])
          : phases.size() == 1 ? "one phase: " + charts::phase_text(phases.front())
                               : fmt::format("{} phases", phases.size()),
          ImGui::GetContentRegionAvail().x, palette().dim);
}

void BanksPane::draw_pictures(float height) {
  const float room = ImGui::GetContentRegionAvail().x, gap = em(0.8f);
  const auto count = float(view_.pictures.size());
  const float each = (room - gap * (count - 1)) / count;
  height = std::max(height, em(8));
  if (each >= em(kLeastPicture)) {
    for (size_t at = 0; at < view_.pictures.size(); ++at) {
      if (at > 0) ImGui::SameLine(0, gap);
      ImGui::BeginGroup();
      draw_picture(view_.pictures[at], {each, height}, true);
      ImGui::EndGroup();
    }
    return;
  }
  if (height >= count * em(kLeastHeight)) {  // one below the other
    const float room_of_one = height / count - ImGui::GetStyle().ItemSpacing.y;
    for (const BankPicture& one : view_.pictures) draw_picture(one, {room, room_of_one}, true);
    return;
  }
  const auto is_it = [&](const BankPicture& one) { return one.layout == layout_; };
  auto shown = std::ranges::find_if(view_.pictures, is_it);
  if (shown == view_.pictures.end()) shown = view_.pictures.begin();
  ImGui::SetNextItemWidth(room);
  if (ImGui::BeginCombo("##layout", charts::title_of(shown->layout).c_str())) {
    for (const BankPicture& one : view_.pictures)
      if (ImGui::Selectable(
              fmt::format("{}: {}", charts::title_of(one.layout), charts::wavefronts_text(one.grid.wavefronts)).c_str(),
              &one == &*shown))
        layout_ = one.layout;
    ImGui::EndCombo();
  }
  draw_picture(*shown, {room, height - ImGui::GetFrameHeightWithSpacing()}, false);
}

// Lanes by banks, and below them how many words each bank serves, phase by phase.
void BanksPane::draw_picture(const BankPicture& picture, ImVec2 size, bool titled) {
  const bool conflicts = picture.grid.wavefronts.taken > picture.grid.wavefronts.needed;
  if (titled) clipped(charts::title_of(picture.layout), size.x, palette().dim);
  clipped(charts::wavefronts_text(picture.grid.wavefronts), size.x, conflicts ? palette().text : palette().good);
  const float below = em(kLoad) * (float(picture.grid.phases.size()) + 0.5f);
  const float above = (titled ? 2 : 1) * ImGui::GetTextLineHeightWithSpacing();
  const ImVec2 cell{std::floor(std::clamp((size.x - em(kGutter)) / kBanks, 2.0f, em(1.4f))),
                    std::clamp(std::floor((size.y - above - below) / kLanes), 3.0f, em(1.1f))};
  const ImVec2 pen = ImGui::GetCursorScreenPos();
  draw_cells(picture, {pen.x + em(kGutter), pen.y}, cell);
  ImGui::SetCursorScreenPos({pen.x + em(kGutter), pen.y});
  ImGui::InvisibleButton(fmt::format("##cells {}", title_of(picture.layout)).c_str(),
                         {cell.x * kBanks, cell.y * kLanes});
  if (ImGui::IsItemHovered()) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    tell(picture, std::clamp(int((mouse.y - pen.y) / cell.y), 0, kLanes - 1),
         std::clamp(int((mouse.x - pen.x - em(kGutter)) / cell.x), 0, kBanks - 1));
  }
  ImGui::SetCursorScreenPos(pen);
  ImGui::Dummy({size.x, cell.y * kLanes + below});
}

void BanksPane::draw_cells(const BankPicture& picture, ImVec2 pen, ImVec2 cell) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Palette& p = palette();
  const auto fill = [&](int column, float top, float height, ImU32 colour) {
    const ImVec2 corner{pen.x + float(column) * cell.x, pen.y + top};
    const float gap = height > 5 ? 1.0f : 0.0f;
    list->AddRectFilled(corner, {corner.x + cell.x - 1, corner.y + height - gap}, colour);
  };
  list->AddRectFilled(pen, {pen.x + cell.x * kBanks, pen.y + cell.y * kLanes}, with_alpha(p.raised, 0.5f));
  for (size_t at = 0; at < picture.grid.phases.size(); ++at) {
    const BankPhase& phase = picture.grid.phases[at];
    const bool shown = phase_ == 0 || phase_ == at + 1;
    for (int lane = 0; lane < kLanes; ++lane) {
      if ((phase.lanes >> lane & 1) == 0) continue;
      for (int bank = 0; bank < kBanks; ++bank)
        if (picture.grid.words[size_t(lane)][size_t(bank)] > 0)
          fill(bank, float(lane) * cell.y, cell.y,
               with_alpha(conflict_colour(phase.distinct[size_t(bank)]), shown ? 1 : 0.2f));
    }
    // A bracket marks the lanes of a phase.
    const auto first = float(std::countr_zero(phase.lanes)), last = float(32 - std::countl_zero(phase.lanes));
    const float x = pen.x - em(0.3f), top = pen.y + first * cell.y + 1, bottom = pen.y + last * cell.y - 2;
    const ImU32 colour = with_alpha(p.dim, shown ? 1 : 0.4f);
    list->AddLine({x, top}, {x, bottom}, colour);
    list->AddLine({x, top}, {x + em(0.2f), top}, colour);
    list->AddLine({x, bottom}, {x + em(0.2f), bottom}, colour);
    const std::string name = std::to_string(int(first));
    list->AddText({x - em(0.2f) - width_of(name), top - em(0.1f)}, colour, name.c_str());
    // The words that each bank serves for the phase.
    const float row = cell.y * kLanes + em(kLoad) * (float(at) + 0.5f);
    for (int bank = 0; bank < kBanks; ++bank) {
      const int words = phase.distinct[size_t(bank)];
      if (words == 0) continue;
      fill(bank, row, em(kLoad), with_alpha(conflict_colour(words), shown ? 0.55f : 0.15f));
      const std::string number = words < 10 ? std::to_string(words) : "+";
      if (shown && cell.x >= width_of(number))
        list->AddText({pen.x + (float(bank) + 0.5f) * cell.x - width_of(number) / 2,
                       pen.y + row + (em(kLoad) - ImGui::GetFontSize()) / 2},
                      p.text, number.c_str());
    }
  }
}

void BanksPane::tell(const BankPicture& picture, int lane, int bank) const {
  const BankPhase* const phase = picture.grid.phase_of(lane);
  std::string words = fmt::format("lane {}, bank {}", lane, bank);
  if (phase == nullptr) {
    words += "\nThe lane is not active.";
  } else {
    words += picture.grid.words[size_t(lane)][size_t(bank)] > 0 ? ": accessed" : ": not accessed";
    words += fmt::format("\n{}\nThe bank serves {} of its words for them.", charts::phase_text(*phase),
                         phase->distinct[size_t(bank)]);
  }
  ImGui::SetTooltip("%s", words.c_str());
}

// The CTA's shared memory from left to right, with the bytes that the access touches.
void BanksPane::draw_buffers() {
  if (facts_->buffers.empty()) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Palette& p = palette();
  int64_t end = 1;
  for (const charts::BufferUse& use : facts_->buffers) end = std::max(end, use.place.begin + use.place.bytes);
  const ImVec2 pen = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x, height = em(kStrip);
  const auto x_of = [&](int64_t byte) { return pen.x + room * f32(double(byte) / double(end)); };
  const charts::BufferUse* here = nullptr;
  for (size_t at = 0; at < facts_->buffers.size(); ++at) {
    const charts::BufferUse& use = facts_->buffers[at];
    const float left = x_of(use.place.begin), right = std::max(left + 1, x_of(use.place.begin + use.place.bytes) - 1);
    list->AddRectFilled({left, pen.y}, {right, pen.y + height},
                        with_alpha(p.buffers[at % std::size(p.buffers)], 0.45f));
    const std::string name = shortened(use.place.name, right - left - em(0.4f));
    list->AddText({left + em(0.2f), pen.y + (height - ImGui::GetFontSize()) / 2}, p.text, name.c_str());
    ImGui::SetCursorScreenPos({left, pen.y});
    ImGui::InvisibleButton(fmt::format("##buffer{}", at).c_str(), {right - left, height});
    tooltip(fmt::format("{}: {}", use.place.name, charts::layout_text(use)));
    if (place_of({use.place}, lowest_byte(view_.access)) != nullptr) here = &use;
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!view_.access.active(lane)) continue;
    const float x = x_of(view_.access.at[size_t(lane)]);
    list->AddLine({x, pen.y + height * 0.55f}, {x, pen.y + height + em(0.15f)}, p.text);
  }
  ImGui::SetCursorScreenPos({pen.x, pen.y + height + ImGui::GetStyle().ItemSpacing.y});
  clipped(here != nullptr ? fmt::format("{}: {}", here->place.name, charts::layout_text(*here))
                          : "No named buffer lies where this access goes.",
          room, p.dim);
}

}  // namespace attnscope::ui
