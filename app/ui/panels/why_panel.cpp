#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "charts/finding_ghosts.h"
#include "charts/finding_rows.h"
#include "charts/format.h"
#include "charts/term_table.h"
#include "core/joined.h"
#include "core/source_lines.h"
#include "ui/command_lines.h"
#include "ui/export_menu.h"
#include "ui/icons.h"
#include "ui/panels/panels.h"
#include "ui/widgets/clipboard.h"
#include "ui/widgets/more_line.h"
#include "ui/widgets/part.h"
#include "ui/widgets/term_bars.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

constexpr float kWide = 62;  // ems: terms on the left, lines and findings on the right
constexpr float kTable = kBaseSize * 0.87f;
constexpr const char* kDash = "\u2013";  // a time that a run's term does not list

void right_aligned(const std::string& words, ImU32 colour) {
  const float room = ImGui::GetContentRegionAvail().x, width = width_of(words);
  if (width < room) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width);
  clipped(words, room + 1, colour);
}

std::string signed_us(double us) { return (us > 0 ? "+" : us < 0 ? "\u2212" : "") + charts::us_text(std::abs(us)); }

// The text of that line, counted from 1, without its indent; empty if there is no such line.
std::string_view line_of(std::string_view source, int64_t line) {
  for (; line > 1; --line) {
    const size_t end = source.find('\n');
    if (end == std::string_view::npos) return {};
    source.remove_prefix(end + 1);
  }
  source = source.substr(0, source.find_first_of("\r\n"));
  const size_t first = source.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : source.substr(first);
}

// The first row that has lines; launch and tail have none.
TermKind first_with_lines(const charts::TermTable& table, const Timing& timing) {
  for (const charts::TermRow& row : table.rows)
    if (const Term* term = charts::term_of(timing, row.kind); term != nullptr && !charts::places_of(*term).empty())
      return row.kind;
  return table.rows.front().kind;
}

// Where the shown run's time goes, term by term beside A's; the lines that carry a term; the findings, and what to try.
class WhyPanel : public Panel {
 public:
  const char* title() const override { return kWhyTitle; }
  Dock dock() const override { return Dock::below; }
  void draw(Context& context) override;

 private:
  void draw_terms(Context& context, const charts::TermTable& table);
  void draw_table(const Context& context, const charts::TermTable& table);
  void draw_places(Context& context, const Timing& timing);
  static void draw_place(Context& context, const charts::TermPlace& place, bool against, double total,
                         const Kernel* kernel);
  void draw_findings(Context& context, const std::vector<charts::FindingRow>& rows);
  static void draw_finding(Context& context, const charts::FindingRow& row, bool since_a);
  void draw_gone(const Context& context);
  static void draw_next(Context& context, const charts::FindingRow& row);

  std::optional<TermKind> chosen_;
  std::map<FindingGroup, bool> whole_;  // true: every finding of the group is shown, not only the first
  bool all_gone_ = false;
};

// A's time, if it can be compared with B's.
const Timing* comparable_a(const Context& context) {
  const auto& delta = context.baseline.delta;
  if (!delta || delta->standing.outcome == charts::Outcome::not_comparable) return nullptr;
  const Observation& a = *context.baseline.entry->observation;
  return a.timing ? &*a.timing : nullptr;
}

// A's time, if its lines are B's too.
const Timing* a_of_one_source(const Context& context) {
  const Timing* a = comparable_a(context);
  return a != nullptr && context.baseline.entry->observation->experiment.kernel_hash ==
                             context.shown.observation->experiment.kernel_hash
             ? a
             : nullptr;
}

// Cached for each kernel, because it is called for every row in every frame.
const SourceLines& lines_of(const Kernel& kernel) {
  static std::string hash;
  static SourceLines lines;
  if (hash != kernel.content_hash) lines = SourceLines(kernel.source_name, kernel.source);
  hash = kernel.content_hash;
  return lines;
}

}  // namespace

void WhyPanel::draw(Context& context) {
  progress_line(context);
  const Observation* seen = context.shown.observation.get();
  const Timing* timing = context.shown.timing();
  const std::vector<charts::FindingRow> findings =
      seen != nullptr ? charts::finding_rows_beside(*seen, context.baseline.ghost) : std::vector<charts::FindingRow>();
  if (timing == nullptr || !charts::has_terms(*timing)) {
    const charts::NoTerms none = charts::why_no_terms(seen);
    if (findings.empty()) return empty_state(ICON_QUESTION, none.headline, none.words);
    wrapped(none.headline + ". " + none.words, palette().dim, kSmallSize);
    return draw_findings(context, findings);
  }
  const charts::TermTable table = charts::term_table(comparable_a(context), *timing);
  const bool known = chosen_ && std::ranges::any_of(table.rows, [&](const auto& row) { return row.kind == *chosen_; });
  if (!known) chosen_ = first_with_lines(table, *timing);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const bool wide = room.x > em(kWide);
  if (wide && ImGui::BeginChild("terms", {room.x * 0.5f, 0})) draw_terms(context, table);
  if (wide) {
    ImGui::EndChild();
    ImGui::SameLine(0, em(0.9f));
    ImGui::BeginChild("lines and findings", {0, 0});
  } else {
    draw_terms(context, table);
  }
  draw_places(context, *timing);
  draw_findings(context, findings);
  if (wide) ImGui::EndChild();
}

void WhyPanel::draw_terms(Context& context, const charts::TermTable& table) {
  export_menu(context, {"terms", [&] { return charts::figure_of(table); }});
  {
    const PartScope scope(context, session::Part::timing);
    if (const auto picked = term_bars(table, chosen_, context.glossary)) chosen_ = picked;
  }
  const auto& delta = context.baseline.delta;
  const bool unlike = delta && delta->standing.outcome == charts::Outcome::not_comparable;
  part_note(context, session::Part::timing,
            unlike          ? delta->text + " " + delta->against
            : table.against ? "the largest difference first"
                            : "the largest first");
  const PartScope scope(context, session::Part::timing);
  draw_table(context, table);
}

void WhyPanel::draw_table(const Context& context, const charts::TermTable& table) {
  ImGui::PushFont(nullptr, kTable);
  if (ImGui::BeginTable("##terms", 4, ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoPadOuterX)) {
    const char* const with_a[] = {"term", "A", "B", "B \u2212 A"};
    const char* const without[] = {"term", "time", "share", ""};
    const auto& names = table.against ? with_a : without;
    ImGui::TableSetupColumn("term", 0, 1.9f);
    for (int column = 1; column < 4; ++column) ImGui::TableSetupColumn(names[column], 0, 1.0f);
    ImGui::TableNextRow();
    for (const char* name : names) {
      ImGui::TableNextColumn();
      name == names[0] ? dim_text(name) : right_aligned(name, palette().dim);
    }
    for (const charts::TermRow& row : table.rows) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      const std::string name(to_string(row.kind));
      const ImVec2 pen = ImGui::GetCursorScreenPos();
      const float side = em(0.62f), top = pen.y + (ImGui::GetFontSize() - side) / 2;
      if (ImGui::Selectable(("##" + std::string(word_of(row.kind))).c_str(), chosen_ == row.kind,
                            ImGuiSelectableFlags_SpanAllColumns))
        chosen_ = row.kind;
      if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip) && ImGui::BeginTooltip()) {
        term_tooltip(table, row, context.glossary);
        ImGui::EndTooltip();
      }
      ImGui::SameLine(0, 0);
      ImGui::GetWindowDrawList()->AddRectFilled({pen.x, top}, {pen.x + side, top + side},
                                                with_alpha(colour_of(row.kind), ImGui::GetStyle().Alpha));
      ImGui::SetCursorScreenPos({pen.x + side + em(0.45f), pen.y});
      text(shortened(name, ImGui::GetContentRegionAvail().x));
      ImGui::TableNextColumn();
      right_aligned(charts::us_text(table.against ? row.a : row.b), table.against ? palette().dim : palette().text);
      ImGui::TableNextColumn();
      if (!table.against) {
        right_aligned(charts::percent_text(table.b > 0 ? row.b / table.b : 0), palette().dim);
        continue;
      }
      right_aligned(charts::us_text(row.b), palette().text);
      ImGui::TableNextColumn();
      right_aligned(signed_us(row.difference()), row.difference() < 0   ? palette().good
                                                 : row.difference() > 0 ? palette().bad
                                                                        : palette().dim);
    }
    ImGui::EndTable();
  }
  ImGui::PopFont();
}

// The lines that carry most of the chosen term. Its height is reserved, so that the findings below stay in place.
void WhyPanel::draw_places(Context& context, const Timing& timing) {
  const Timing* const a = a_of_one_source(context);
  const bool against = a != nullptr && charts::has_terms(*a), other = a == nullptr && comparable_a(context) != nullptr;
  section(fmt::format("Where: {}{}", to_string(*chosen_), other ? "; A has another source" : "").c_str());
  const PartScope scope(context, session::Part::timing);
  ImGui::PushFont(nullptr, kTable);
  const float top = ImGui::GetCursorPosY();
  const Term* const term = charts::term_of(timing, *chosen_);
  const std::vector<charts::TermPlace> places =
      charts::places_beside(against ? charts::term_of(*a, *chosen_) : nullptr, term);
  const Experiment& ran = context.shown.observation->experiment;
  const Kernel* kernel = session::find_kernel(context.snapshot, ran.kernel);
  if (kernel != nullptr && kernel->content_hash != ran.kernel_hash) kernel = nullptr;  // edited since
  if (places.empty())
    dim_text(term == nullptr ? "B has no such term." : "No line carries it.");
  else if (ImGui::BeginTable("##places", against ? 4 : 3,
                             ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoPadOuterX)) {
    ImGui::TableSetupColumn("place", 0, 1.3f);
    ImGui::TableSetupColumn("time", 0, 0.8f);
    if (against) ImGui::TableSetupColumn("A", 0, 0.9f);
    ImGui::TableSetupColumn("code", 0, against ? 2.3f : 3.0f);
    for (const charts::TermPlace& place : places) draw_place(context, place, against, timing.p50, kernel);
    ImGui::EndTable();
  }
  const float room =
      static_cast<float>(Term::kMostLines) * (ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y);
  ImGui::SetCursorPosY(std::max(ImGui::GetCursorPosY(), top + room));
  ImGui::Dummy({0, 0});
  ImGui::PopFont();
}

void WhyPanel::draw_place(Context& context, const charts::TermPlace& place, bool against, double total,
                          const Kernel* kernel) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const int64_t line = kernel != nullptr ? lines_of(*kernel).text_line(place.file, place.line) : 0;
  const bool shown = line > 0;
  const ImVec2 pen = ImGui::GetCursorScreenPos();
  if (ImGui::Selectable(("##" + place.place).c_str(), false, ImGuiSelectableFlags_SpanAllColumns) && shown)
    context.show_line(line);
  const std::string waits = place.waits.empty() ? "" : place.waits + " waits for it. ";
  const bool listed = place.us > 0;
  const std::string unlisted = !listed               ? "Only A lists it. "
                               : against && !place.a ? "A does not list it: its longest lines are others. "
                                                     : "";
  tooltip(place.place + (listed ? ", " + charts::percent_text(place.us / total) + " of the whole time. " : ". ") +
          waits + unlisted + (shown ? "Click to see the line." : "Its source is not one that the Source panel shows."));
  ImGui::SetCursorScreenPos(pen);
  text(shortened(place.place, ImGui::GetContentRegionAvail().x));
  ImGui::TableNextColumn();
  right_aligned(listed ? charts::us_text(place.us) : kDash, palette().text);
  if (against) {
    ImGui::TableNextColumn();
    right_aligned("A " + (place.a ? charts::us_text(*place.a) : kDash), palette().dim);
  }
  ImGui::TableNextColumn();
  ImGui::PushFont(fonts().mono, kSmallSize);
  ImGui::PushStyleColor(ImGuiCol_Text, palette().dim);
  if (shown) text(shortened(line_of(kernel->source, line), ImGui::GetContentRegionAvail().x));
  ImGui::PopStyleColor();
  ImGui::PopFont();
}

// By group. Of each only the first findings are shown, until a person asks for the others.
void WhyPanel::draw_findings(Context& context, const std::vector<charts::FindingRow>& rows) {
  if (rows.empty()) {
    section("Findings");
    dim_text("Nothing was found.");
  }
  const std::vector<bool> since_a = charts::since_a(*context.shown.observation, context.baseline.ghost);
  for (const charts::FindingsOfGroup& group : charts::by_group(rows)) {
    section(fmt::format("Findings: {}", to_string(group.group)).c_str());
    bool& whole = whole_[group.group];
    const size_t count = group.at.size(), first = std::min(count, charts::FindingsOfGroup::kFew);
    for (size_t i = 0; i < (whole ? count : first); ++i) {
      ImGui::PushID(static_cast<int>(group.at[i]));
      draw_finding(context, rows[group.at[i]], since_a[group.at[i]]);
      ImGui::PopID();
    }
    ImGui::PushFont(nullptr, kSmallSize);
    if (first < count) more_line(("more of " + std::string(word_of(group.group))).c_str(), count - first, whole);
    ImGui::PopFont();
  }
  draw_gone(context);
}

// What was found of A and not of B.
void WhyPanel::draw_gone(const Context& context) {
  const Observation* a = context.baseline.ghost;
  if (a == nullptr) return;
  const std::vector<const Finding*> gone = charts::gone_since(*a, *context.shown.observation);
  if (gone.empty()) return;
  section("Findings that are gone since A");
  const size_t first = std::min(gone.size(), charts::FindingsOfGroup::kFew);
  for (size_t i = 0; i < (all_gone_ ? gone.size() : first); ++i)
    wrapped(ICON_CHECK "  " + gone[i]->sentence, palette().dim, kTable);
  ImGui::PushFont(nullptr, kSmallSize);
  if (first < gone.size()) more_line("more that are gone", gone.size() - first, all_gone_);
  ImGui::PopFont();
}

void WhyPanel::draw_finding(Context& context, const charts::FindingRow& row, bool since_a) {
  const bool info = row.severity == Severity::info;
  wrapped((info ? ICON_INFO "  " : ICON_WARNING "  ") + row.sentence,
          info                                ? palette().text
          : row.severity == Severity::warning ? palette().warn
                                              : palette().bad,
          kTable);
  std::string figures = joined(row.evidence, std::identity(), "; ");
  if (since_a) figures = "new since A" + (figures.empty() ? "" : "; " + figures);
  if (!row.gain.empty()) figures += (figures.empty() ? "" : "; ") + row.gain;
  if (!figures.empty()) wrapped(figures, palette().dim, kSmallSize);
  draw_next(context, row);
  ImGui::Dummy({0, em(0.2f)});
}

// The line, the knobs to set as a button, and the command line that does the same.
void WhyPanel::draw_next(Context& context, const charts::FindingRow& row) {
  ImGui::PushFont(nullptr, kSmallSize);
  bool any = false;
  const auto beside = [&] {
    if (std::exchange(any, true)) ImGui::SameLine(0, em(0.5f));
  };
  const Experiment& ran = context.shown.observation->experiment;
  const Kernel* kernel = session::find_kernel(context.snapshot, ran.kernel);
  if (const int64_t line = kernel != nullptr ? lines_of(*kernel).text_line(row.file, row.line) : 0; line > 0) {
    beside();
    if (ImGui::SmallButton(fmt::format("{}:{}###line", row.file, row.line).c_str())) context.show_line(line);
    const Timing* const timing = context.shown.timing();
    const std::string times =
        timing != nullptr ? charts::times_at(a_of_one_source(context), *timing, row.file, row.line) : "";
    if (!times.empty()) {
      beside();
      small_text(times, palette().dim);
      tooltip("The modelled time of this line, from the terms in which it is among the longest lines");
    }
  }
  if (!row.next.empty()) {
    Draft wish = ran;
    for (const auto& [name, value] : row.next) wish.config.knobs[name] = value;
    const std::string words = charts::set_words({row.next}, kernel);
    const bool is_set = wish.kernel == context.draft.current().kernel && wish.config == context.draft.current().config;
    beside();
    ImGui::BeginDisabled(is_set);
    if (ImGui::SmallButton((ICON_ARROW_RIGHT "  Set " + words + "###next").c_str())) {
      if (context.shown.from_history()) context.session.select_history(0);
      context.post(wish, {context.new_gesture(), true, words});
    }
    ImGui::EndDisabled();
    if (is_set) tooltip("The knobs already have these values.");
    const CommandLine line =
        command_line(CommandKind::run, wish, kernel, "", "", session::worker_of(context.snapshot, wish.device));
    beside();
    ImGui::BeginDisabled(!line.refusal.empty());
    if (ImGui::SmallButton("Copy the command line###copy")) copy("attnscope " + shell_text(line.arguments));
    ImGui::EndDisabled();
    tooltip(line.refusal.empty() ? "attnscope " + shell_text(line.arguments) : line.refusal);
    if (const charts::Tried* tried = context.tries.of(wish.config); tried != nullptr && !tried->words.empty()) {
      beside();
      small_text(tried->words, tried->better > 0 ? palette().good : tried->better < 0 ? palette().warn : palette().dim);
      tooltip("It ran on the same device, beside the shown run: " + tried->why);
    }
  }
  ImGui::PopFont();
}

std::unique_ptr<Panel> make_why_panel(const std::filesystem::path&) { return std::make_unique<WhyPanel>(); }

}  // namespace attnscope::ui
