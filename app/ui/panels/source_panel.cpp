#include "ui/panels/source_panel.h"

#include <fmt/format.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "charts/watch_rows.h"
#include "core/code_file.h"
#include "ui/icons.h"
#include "ui/layout.h"
#include "ui/panels/panels.h"
#include "ui/widgets/clipboard.h"
#include "ui/widgets/part.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

constexpr float kWide = 50;    // ems: room for the source and the pane beside it
constexpr float kToType = 20;  // ems of height that the editor needs

std::string_view trimmed(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : line.substr(first);
}

// The shown run's kernel, if the run is one of the history.
const Kernel* kernel_of(const Context& context) {
  const bool ran = context.shown.from_history() && context.shown.observation;
  return session::find_kernel(context.snapshot,
                              ran ? context.shown.observation->experiment.kernel : context.draft.current().kernel);
}

}  // namespace

std::string why_not_edited(const Kernel* kernel) {
  if (kernel == nullptr) return "No kernel is shown.";
  if (!kernel->library.is_source()) return "A routine of " + kernel->library.name() + " has no source.";
  return is_machine_code(kernel->source) ? "It is machine code, without its source." : "";
}

void SourcePanel::edit(Context& context) {
  const Kernel* kernel = kernel_of(context);
  if (!why_not_edited(kernel).empty()) return;
  const bool ran = context.shown.from_history() && context.shown.observation;
  const Draft draft = ran ? static_cast<const Draft&>(context.shown.observation->experiment) : context.draft.current();
  editor_.edit(context, *kernel, draft, code_.line());
  if (!wide_) beside_wished_ = false;  // so that the editor is visible
}

void SourcePanel::show_line(int64_t line) {
  choose_line(line);
  reveal_ = true;
  if (!wide_) beside_wished_ = false;  // so that the line is visible
}

void SourcePanel::show_fragments(int64_t line) {
  show_line(line);
  beside_ = Beside::fragments;
  beside_wished_ = true;
}

void SourcePanel::show_softmax(const SoftmaxRow& row, int64_t tile) {
  softmax_.show(row, tile);
  beside_ = Beside::softmax;
  beside_wished_ = true;
}

void SourcePanel::choose_line(int64_t line) {
  code_.choose_line(line);
  reveal_ptx_ = true;
  const auto& of = code_.view().instructions_of;
  const bool known = line > 0 && static_cast<size_t>(line) <= of.size() && !of[static_cast<size_t>(line) - 1].empty();
  if (known) reveal_instruction_ = of[static_cast<size_t>(line) - 1].front();
}

void SourcePanel::choose_instruction(int64_t at) {
  code_.choose_instruction(at);
  reveal_ = reveal_ptx_ = true;
}

bool SourcePanel::makes() const { return drawn_in_ == ImGui::GetFrameCount() && code_.makes(); }

void SourcePanel::draw(Context& context) {
  const Kernel* kernel = kernel_of(context);
  if (editor_.is_stuck() && (kernel == nullptr || !editor_.is_of(*kernel))) editor_.draw_stuck();
  if (kernel == nullptr) return empty_state(ICON_CODE, "No kernel", "Choose one on the left.");
  if (kernel->source.empty())
    return empty_state(ICON_CODE, "A routine of " + kernel->library.name(), "Its source is not available.");
  refresh(context, *kernel);
  code_.refresh(context, *kernel, lines_.size());
  drawn_in_ = ImGui::GetFrameCount();
  wide_ = ImGui::GetContentRegionAvail().x > em(kWide);
  draw_header(context, *kernel);
  draw_tools(context, *kernel);
  const bool typing = editor_.is_of(*kernel);
  if (typing && !typed_ && ImGui::GetContentRegionAvail().y < em(kToType)) set_tall(title(), true);
  typed_ = typing;
  if (typing) editor_.draw_bar(context, *kernel, marks_);
  // In a narrow panel the pane replaces the source.
  const float room = ImGui::GetContentRegionAvail().x;
  const bool both = wide_ && beside() != Beside::nothing;
  if (both) ImGui::BeginChild("source", {(room - em(0.6f)) * 0.5f, 0});
  if (both || beside() == Beside::nothing) draw_source(context, *kernel);
  if (both) {
    ImGui::EndChild();
    ImGui::SameLine(0, em(0.6f));
    ImGui::BeginChild("beside", {0, 0});
  }
  if (beside() != Beside::nothing) draw_beside(context, *kernel);
  if (both) ImGui::EndChild();
}

void SourcePanel::draw_source(Context& context, const Kernel& kernel) {
  if (!editor_.is_of(kernel)) return draw_lines();
  if (std::exchange(reveal_, false)) editor_.show_line(code_.line());
  const int64_t line = editor_.draw(context, kernel, marks_, code_);
  if (line > 0 && line != code_.line() && editor_.is_as_in(kernel)) choose_line(line);
}

void SourcePanel::draw_beside(Context& context, const Kernel& kernel) {
  std::string why = code_.missing();
  if (beside_ == Beside::changes) {
    const std::vector<ChangeLine>& changes = code_.changes(context, kernel, why);
    if (changes.empty()) return wrapped(why, palette().dim, kSmallSize);
    if (const ChangeLine* clicked = draw_changes(code_, changes)) {
      if (clicked->line > 0) show_line(clicked->line);
      if (clicked->instruction >= 0) choose_instruction(clicked->instruction);
    }
    return;
  }
  if (beside_ == Beside::edits) {
    const std::string& now = editor_.is_of(kernel) ? editor_.text() : kernel.source;
    const ChangeLine* clicked = draw_changes(code_, code_.edits(context.snapshot.originals->at(kernel.id), now));
    if (clicked != nullptr && clicked->line > 0) show_line(clicked->line);
    return;
  }
  if (beside_ == Beside::softmax) {
    if (const int64_t clicked = softmax_.draw(context, kernel); clicked > 0) show_line(clicked);
    return;
  }
  if (code_.listing() == nullptr) return wrapped(why, palette().dim, kSmallSize);
  if (beside_ == Beside::banks) {
    if (const int64_t clicked = banks_.draw(code_); clicked >= 0) choose_instruction(clicked);
    return;
  }
  if (beside_ == Beside::sass) {
    const int64_t clicked = draw_sass(code_, std::exchange(reveal_instruction_, -1), search_);
    if (clicked >= 0) choose_instruction(clicked);
  } else if (beside_ == Beside::fragments) {
    if (const int64_t clicked = fragments_.draw(code_); clicked >= 0) choose_instruction(clicked);
  } else if (const int64_t line = draw_ptx(code_, std::exchange(reveal_ptx_, false), search_); line > 0) {
    code_.choose_line(line);
    reveal_ = true;
  }
}

// Chooses the pane beside the source; the search; the step to the next hot line.
void SourcePanel::draw_tools(const Context& context, const Kernel& kernel) {
  constexpr std::pair<Beside, const char*> kKinds[] = {
      {Beside::nothing, "Source"},          {Beside::sass, "SASS"},      {Beside::ptx, "PTX"},
      {Beside::changes, "Changes since A"}, {Beside::edits, "Edits"},    {Beside::banks, "Banks"},
      {Beside::fragments, "Fragments"},     {Beside::softmax, "Softmax"}};
  const bool copied = context.snapshot.originals->contains(kernel.id);
  if (!copied && beside_ == Beside::edits) beside_ = Beside::sass;
  ImGui::PushFont(nullptr, kSmallSize);
  for (const auto& [kind, name] : kKinds) {
    if (kind == Beside::edits && !copied) continue;
    const bool is_it = kind == beside();
    if (is_it) ImGui::PushStyleColor(ImGuiCol_Button, ImGui::GetStyleColorVec4(ImGuiCol_ButtonActive));
    if (ImGui::SmallButton(name)) {
      beside_ = kind;
      beside_wished_ = true;
    }
    if (is_it) ImGui::PopStyleColor();
    tooltip(kind == Beside::nothing     ? "Only the source"
            : kind == Beside::fragments ? "Which lane holds which element of a Tensor Core product or a matrix load"
            : kind == Beside::softmax
                ? "What the online softmax holds of one row, key tile by key tile: m, l, the scores and O"
            : kind == Beside::changes
                ? "What the knobs changed in source and machine code since A, whatever the registers"
            : kind == Beside::edits ? "What you changed since the source was copied"
            : kind == Beside::banks ? "Accesses to shared memory, 32 lanes by 32 banks"
            : wide_                 ? std::string(name) + " beside the source"
                                    : std::string(name) + " in place of the source: the panel is narrow");
    ImGui::SameLine(0, em(0.25f));
  }
  ImGui::SameLine(0, em(0.9f));
  const bool none = code_.listing() == nullptr || !code_.view().has(code_.column);
  ImGui::BeginDisabled(none);
  if (ImGui::SmallButton("next hot")) step_hot();
  ImGui::EndDisabled();
  tooltip(none ? "The shown run has no " + std::string(to_string(code_.column)) + " by line."
               : "Goes to the next line in order of " + std::string(to_string(code_.column)) + ", hottest first");
  ImGui::SameLine(0, em(0.3f));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {em(0.3f), 0});
  choose_column();
  ImGui::SameLine(0, em(0.5f));
  ImGui::SetNextItemWidth(em(9));
  if (ImGui::InputTextWithHint("##search", ICON_SEARCH "  search", &search_, ImGuiInputTextFlags_EnterReturnsTrue)) {
    find_next();
    ImGui::SetKeyboardFocusHere(-1);
  }
  ImGui::PopStyleVar();
  tooltip("Enter goes to the next line of the source or instruction that has it.");
  ImGui::SameLine(0, em(0.8f));
  std::string note = beside() == Beside::nothing ? code_.missing() : "";  // otherwise it is shown instead of the code
  if (code_.listing() != nullptr && code_.listing()->counted) {
    const Listing& listing = *code_.listing();
    note = listing.emulated_ctas == listing.total_ctas
               ? fmt::format("counted over {} CTAs; time is modelled", listing.total_ctas)
               : fmt::format("counted over {} of {} CTAs; time is modelled", listing.emulated_ctas, listing.total_ctas);
  } else if (code_.listing() != nullptr) {
    note = "no counts: the emulator has not run this code recently";
  }
  if (code_.listing() != nullptr && code_.listing()->launch) note = *code_.listing()->launch + ": " + note;
  if (!code_.without_a().empty()) note += (note.empty() ? "" : ". ") + code_.without_a();
  if (beside() == Beside::changes && context.baseline.entry != nullptr) note = code_.changes_summary();
  clipped(note, ImGui::GetContentRegionAvail().x, palette().dim);
  ImGui::PopFont();
}

void SourcePanel::refresh(const Context& context, const Kernel& kernel) {
  const bool other_lines = lines_of_ != kernel.content_hash;
  if (other_lines) {
    lines_of_ = kernel.content_hash;
    text_ = is_machine_code(kernel.source) ? "" : kernel.source;
    source_ = SourceLines(kernel.source_name, text_);
    lines_.clear();
    comment_.clear();
    bool inside = false;  // inside a comment of several lines
    for (std::string_view rest = text_; !rest.empty();) {
      const size_t end = rest.find('\n');
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      const std::string_view words = trimmed(line);
      const bool opens = words.starts_with("/*");
      lines_.push_back(line);
      comment_.push_back(inside || opens || words.starts_with("//"));
      if (inside || opens) inside = line.find("*/") == std::string_view::npos;
    }
    if (code_.line() > static_cast<int64_t>(lines_.size())) code_.choose_line(0);
  }
  const Failure* failure = context.shown.failure();
  const std::string words = failure != nullptr ? failure->message + "\n" + failure->hint : "";
  const auto& seen = context.shown.observation;
  if (!other_lines && seen == marks_of_ && words == failure_of_) return;
  marks_of_ = seen;
  failure_of_ = words;
  const bool its = seen != nullptr && seen->experiment.kernel_hash == kernel.content_hash;
  marks_ = source_marks(its ? *seen : Observation{}, failure, source_);
}

void SourcePanel::draw_header(Context& context, const Kernel& kernel) {
  ImGui::AlignTextToFramePadding();
  ImGui::PushFont(fonts().strong, 0);
  text(kernel.source_name);
  ImGui::PopFont();
  ImGui::SameLine(0, em(0.8f));
  const Observation* seen = context.shown.observation.get();
  if (seen != nullptr && seen->experiment.kernel == kernel.id && seen->experiment.kernel_hash != kernel.content_hash) {
    small_text("edited since the shown run", palette().warn);
    ImGui::SameLine(0, em(0.8f));
  }
  if (marks_.empty()) {
    small_text("no finding names one of its lines", palette().dim);
  } else {
    if (ImGui::SmallButton("<##before")) step(-1);
    tooltip("The marked line before");
    ImGui::SameLine(0, em(0.3f));
    if (ImGui::SmallButton(">##after")) step(1);
    tooltip("The next marked line");
    ImGui::SameLine(0, em(0.5f));
    dim_text(fmt::format("{} marked line{}", marks_.size(), marks_.size() == 1 ? "" : "s"));
  }
  ImGui::SameLine();
  const bool tall = is_tall(title());
  const std::string why_not = why_not_edited(&kernel);
  const bool own = context.snapshot.originals->contains(kernel.id);
  const char* edits = own ? "edit###edit" : "edit a copy###edit";
  const float wide = width_of(own ? "edit" : "edit a copy") + width_of("taller") + width_of("copy") + em(4.4f);
  const float room = ImGui::GetContentRegionAvail().x;
  if (room > wide) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - wide);
  ImGui::BeginDisabled(!why_not.empty() || editor_.is_of(kernel));
  if (ImGui::SmallButton(edits)) edit(context);
  ImGui::EndDisabled();
  tooltip(!why_not.empty() ? why_not
          : own            ? "Edits the source (Ctrl+E). It runs whenever you pause."
                           : "Copies the kernel into " + context.snapshot.own_kernels_dir +
                      " and edits the copy (Ctrl+E). It runs whenever you pause.");
  ImGui::SameLine(0, em(0.4f));
  if (ImGui::SmallButton(tall ? "lower###tall" : "taller###tall")) set_tall(title(), !tall);
  tooltip(tall ? "Gives the panels above their height back" : "Shrinks the panels above to their headlines");
  ImGui::SameLine(0, em(0.4f));
  if (ImGui::SmallButton("copy")) copy(text_);
}

void SourcePanel::draw_lines() {
  const std::vector<charts::HeatColumn> columns = shown_columns(code_, ImGui::GetContentRegionAvail().x);
  ImGui::PushFont(fonts().mono, kSmallSize);
  heat_header(code_, columns);
  if (ImGui::BeginChild("lines", {0, 0}, 0, ImGuiWindowFlags_HorizontalScrollbar)) {
    const float gutter = width_of(std::to_string(lines_.size())) + em(2.2f);
    if (std::exchange(reveal_, false) && code_.line() > 0) scroll_to_row(code_.line() - 1);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(lines_.size()));
    while (clipper.Step())
      for (int at = clipper.DisplayStart; at < clipper.DisplayEnd; ++at)
        draw_line(static_cast<size_t>(at), gutter, columns);
  }
  ImGui::EndChild();
  ImGui::PopFont();
}

void SourcePanel::draw_line(size_t at, float gutter, const std::vector<charts::HeatColumn>& columns) {
  const int64_t number = static_cast<int64_t>(at) + 1;
  const auto marked = std::find_if(marks_.begin(), marks_.end(), [&](const SourceMark& m) { return m.line == number; });
  const CodeRow place;
  const float y = place.pen.y;
  const Palette& p = palette();
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (marked != marks_.end()) place.fill(marked->error ? p.bad : p.warn, 0.14f);
  if (code_.lights_line(number)) place.fill(p.accent, 0.13f);
  if (finds(lines_[at], search_)) place.fill(p.warn, 0.1f);
  if (place.button(fmt::format("##line{}", number))) choose_line(number);
  const bool hovered = ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip);
  if (number == code_.line()) place.outline(p.accent);
  heat_cells(code_, columns, true, at, {place.left, y});
  const float left = place.left + heat_width(columns);
  if (marked != marks_.end()) list->AddText({left, y}, marked->error ? p.bad : p.warn, ICON_WARNING);
  const std::string shown = std::to_string(source_.place_of(number).line);
  list->AddText({left + gutter - em(0.7f) - width_of(shown), y}, p.faint, shown.c_str());
  place.scrolled(heat_width(columns) + gutter, lines_[at], comment_[at] ? p.dim : p.text);
  if (!hovered) return;
  std::string words = marked != marks_.end() ? marked->words : "";
  const auto add = [&](const std::string& more) { words += (words.empty() ? "" : "\n") + more; };
  const auto& view = code_.view();
  if (at < view.lines.size()) {
    if (!view.instructions_of[at].empty()) add(fmt::format("{} instructions", view.instructions_of[at].size()));
    const charts::CodeGhost* const ghost = code_.ghost();
    for (const charts::HeatColumn column : charts::kHeatColumns)
      if (const std::string figure =
              charts::figure_beside(view.lines[at], ghost != nullptr ? ghost->at_line(at, column) : nullptr, column);
          !figure.empty())
        add(fmt::format("{}: {}", to_string(column), figure));
  }
  text_tooltip(words.empty() ? "No machine code comes from this line." : words, 28);
}

std::unique_ptr<Panel> make_source_panel(const std::filesystem::path&) { return std::make_unique<SourcePanel>(); }

}  // namespace attnscope::ui
