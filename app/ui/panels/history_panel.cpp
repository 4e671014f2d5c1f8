#include "ui/panels/history_panel.h"

#include <fmt/format.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "charts/format.h"
#include "charts/tables.h"
#include "charts/words.h"
#include "core/escape.h"
#include "platform/clock.h"
#include "ui/export_menu.h"
#include "ui/icons.h"
#include "ui/panels/panels.h"
#include "ui/widgets/clipboard.h"
#include "ui/widgets/headline.h"
#include "ui/widgets/part.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

enum Column {
  kRun,
  kChange,
  kConfig,
  kLatency,
  kKind,
  kVerdict,
  kError,
  kShared,
  kOccupancy,
  kRegisters,
  kWhen,
  kColumns
};
struct WantedColumn {
  Column column;
  float ems;  // including its padding
};
constexpr WantedColumn kWanted[] = {{kRun, 3.1f},    {kLatency, 5.2f},   {kVerdict, 8.2f}, {kChange, 10},
                                    {kConfig, 14},   {kError, 5.4f},     {kKind, 6.4f},    {kOccupancy, 4.6f},
                                    {kShared, 5.6f}, {kRegisters, 3.4f}, {kWhen, 5.2f}};
float ems_of(Column column) {
  return std::find_if(std::begin(kWanted), std::end(kWanted), [&](const WantedColumn& w) { return w.column == column; })
      ->ems;
}

constexpr float kRoomForBoth = 52;                                    // ems, for the table and a comparison
constexpr double kNothing = std::numeric_limits<double>::infinity();  // sorts last

double sort_figure(const session::HistoryEntry& entry, int column) {
  const Observation* seen = entry.observation.get();
  if (seen == nullptr) return kNothing;
  switch (column) {
    case kLatency:
      return seen->timing ? seen->timing->p50 : kNothing;
    case kError:
      return charts::relative_error(*seen).value_or(kNothing);
    case kShared:
      return seen->variant
                 ? static_cast<double>(seen->variant->static_shared_bytes + seen->variant->dynamic_shared_bytes)
                 : kNothing;
    case kOccupancy:
      return seen->occupancy ? seen->occupancy->fraction : kNothing;
    case kRegisters:
      return seen->variant ? static_cast<double>(seen->variant->registers) : kNothing;
    default:
      return static_cast<double>(entry.id);
  }
}

std::string sort_words(const session::HistoryEntry& entry, int column) {
  const Observation* seen = entry.observation.get();
  switch (column) {
    case kChange:
      return entry.change;
    case kConfig:
      return (seen ? seen->experiment.kernel : "") + " " + entry.config_text;
    case kKind:
      return seen && seen->timing ? std::string(to_string(seen->timing->kind)) : "~";
    case kVerdict:
      return seen && headline_of(*seen) ? std::string(to_string(*headline_of(*seen))) : "~";
    default:
      return {};
  }
}

bool is_words(int column) { return column == kChange || column == kConfig || column == kKind || column == kVerdict; }

void verdict_cell(const Observation& seen) {
  if (seen.failure) {
    ImGui::PushStyleColor(ImGuiCol_Text, palette().bad);
    text(shortened(ICON_WARNING " " + std::string(to_string(seen.failure->stage)), ImGui::GetContentRegionAvail().x));
    ImGui::PopStyleColor();
    return tooltip(std::string(words_of(seen.failure->stage)) + ": " + seen.failure->message);
  }
  const auto headline = headline_of(seen);
  if (!headline) return dim_text("\u2013");
  const HeadlineLook look = look_of(*headline);
  clipped(fmt::format("{} {}", look.icon, to_string(*headline)), ImGui::GetContentRegionAvail().x, look.colour);
  if (is_of_watch(*headline) && seen.verdict)
    tooltip(fmt::format("{}, as the watch found; the output itself {}.", to_string(*headline),
                        words_of_output(*seen.verdict)));
}

store::RunNote note_of(const Context& context, const std::string& hash) {
  const auto found = context.snapshot.notes->find(hash);
  return found == context.snapshot.notes->end() ? store::RunNote{} : found->second;
}

// The typed note as it is stored.
std::string kept_text(const std::string& typed) {
  std::string text = typed.substr(0, store::RunNote::kMostBytes);
  while (!is_utf8(text)) text.pop_back();  // a character that was cut
  return text;
}

void right_aligned(const std::string& words, ImU32 colour) {
  const float room = ImGui::GetContentRegionAvail().x, width = width_of(words);
  if (width < room) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width);
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  text(words);
  ImGui::PopStyleColor();
}

}  // namespace

void HistoryPanel::sort(const Context& context) {
  const session::History& history = context.snapshot.history;
  order_.clear();
  for (size_t at = 0; at < history.size; ++at)
    if (shows(context, history.at(at))) order_.push_back(at);
  const auto less = [&](size_t a, size_t b) {
    const session::HistoryEntry &x = history.at(a), &y = history.at(b);
    if (is_words(sort_column_)) {
      const std::string left = sort_words(x, sort_column_), right = sort_words(y, sort_column_);
      return ascending_ ? left < right : right < left;
    }
    const double left = sort_figure(x, sort_column_), right = sort_figure(y, sort_column_);
    if (left == kNothing || right == kNothing) return left < right;  // runs without the figure stay at the end
    return ascending_ ? left < right : right < left;
  };
  std::stable_sort(order_.begin(), order_.end(), less);
  stale_ = false;
}

// Shows the columns that fit, the most important first, without overriding the user's own choice among them.
void HistoryPanel::fit_columns(const Context& context, float ems) {
  if (!std::exchange(made_, true)) return context.wake_within(0.02);  // a table's first frame enables every column
  size_t fitting = 0;
  for (float taken = 0; fitting < std::size(kWanted); ++fitting) {
    taken += kWanted[fitting].ems;
    if (taken > ems) break;
  }
  if (fitting == fitting_) return;
  for (size_t at = 0; at < std::size(kWanted); ++at)
    if ((at < fitting) != (at < fitting_)) ImGui::TableSetColumnEnabled(kWanted[at].column, at < fitting);
  fitting_ = fitting;
}

void HistoryPanel::draw(Context& context) {
  if (noting_) noting_->drawn = false;
  draw_runs(context);
  if (!noting_ || noting_->drawn) return;
  keep_note(context);  // the menu disappeared without a last frame: its row scrolled away, or another menu opened
  noting_.reset();
}

void HistoryPanel::draw_runs(Context& context) {
  const session::History& history = context.snapshot.history;
  if (history.size == 0)
    return empty_state(ICON_HISTORY, "No run yet",
                       "Every finished run is kept here, oldest to newest, and is here again after a restart.");
  filter_.session = context.snapshot.opened.number;
  filter_.notes = context.snapshot.notes.get();
  filter_.runs = history.size;
  draw_filter(context);
  const bool comparing = compares() && compare_.refresh(context);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  if (comparing && room.x < em(kRoomForBoth)) return compare_.draw(context);  // side by side, both would be cut
  const float side = comparing ? std::min(compare_.wanted_width(), room.x * 0.6f) : 0;
  const float table = room.x - side - (comparing ? em(0.6f) : 0);
  const ImGuiTableFlags flags = ImGuiTableFlags_Sortable | ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg |
                                ImGuiTableFlags_Resizable | ImGuiTableFlags_Reorderable | ImGuiTableFlags_Hideable |
                                ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_BordersInnerH;
  ImGui::PushFont(nullptr, kBaseSize * 0.87f);
  if (ImGui::BeginTable("runs", kColumns, flags, {table, 0})) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn("run", ImGuiTableColumnFlags_DefaultSort, ems_of(kRun), kRun);
    ImGui::TableSetupColumn("change", 0, ems_of(kChange), kChange);
    ImGui::TableSetupColumn("config", 0, ems_of(kConfig), kConfig);
    ImGui::TableSetupColumn("latency", 0, ems_of(kLatency), kLatency);
    ImGui::TableSetupColumn("kind", 0, ems_of(kKind), kKind);
    ImGui::TableSetupColumn("verdict", 0, ems_of(kVerdict), kVerdict);
    ImGui::TableSetupColumn("rel. error", 0, ems_of(kError), kError);
    ImGui::TableSetupColumn("shared", 0, ems_of(kShared), kShared);
    ImGui::TableSetupColumn("occup.", 0, ems_of(kOccupancy), kOccupancy);
    ImGui::TableSetupColumn("regs", 0, ems_of(kRegisters), kRegisters);
    ImGui::TableSetupColumn("at", 0, ems_of(kWhen), kWhen);
    fit_columns(context, table / em(1));
    ImGui::TableHeadersRow();
    if (ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs(); specs != nullptr && specs->SpecsCount > 0) {
      const int column = static_cast<int>(specs->Specs[0].ColumnUserID);
      const bool up = specs->Specs[0].SortDirection == ImGuiSortDirection_Ascending;
      stale_ |= specs->SpecsDirty || column != sort_column_ || up != ascending_;
      sort_column_ = column;
      ascending_ = up;
      specs->SpecsDirty = false;
    }
    if (stale_ || filter_ != sorted_with_) sort(context);
    sorted_with_ = filter_;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(order_.size()));
    while (clipper.Step())
      for (int at = clipper.DisplayStart; at < clipper.DisplayEnd; ++at)
        draw_row(context, history.at(order_[static_cast<size_t>(at)]));
    follow_newest(history.size);
    ImGui::EndTable();
  }
  ImGui::PopFont();
  if (!comparing) return;
  ImGui::SameLine(0, em(0.6f));
  if (ImGui::BeginChild("compare", {0, 0})) compare_.draw(context);
  ImGui::EndChild();
}

// Scrolls to a new run if the list was at its end; a list that was scrolled back stays in place.
void HistoryPanel::follow_newest(size_t runs) {
  const bool at_end = ImGui::GetScrollY() >= ImGui::GetScrollMaxY() - ImGui::GetTextLineHeight();
  if (runs != runs_seen_ && (at_end || runs_seen_ == 0))
    to_end_ = 3;  // several frames, because the table's height changes later
  runs_seen_ = runs;
  if (to_end_ > 0 && sort_column_ == kRun && ascending_) ImGui::SetScrollY(ImGui::GetScrollMaxY());
  to_end_ = std::max(0, to_end_ - 1);
}

// A star and a note of this experiment's runs.
void HistoryPanel::note_items(Context& context, const Observation& seen) {
  store::RunNote note = note_of(context, seen.hash);
  if (noting_ && noting_->hash != seen.hash) {  // belongs to another run's menu
    keep_note(context);
    noting_.reset();
  }
  if (!noting_) {
    noting_ = {seen.hash, note.text};
    note_ = note.text;
  }
  noting_->drawn = true;
  if (ImGui::MenuItem(note.starred ? "Take the star off" : "Star it")) {
    note.starred = !note.starred;
    note.text = noting_->before = kept_text(note_);
    context.session.annotate(seen.hash, note);
  }
  ImGui::SetNextItemWidth(em(16));
  ImGui::InputTextWithHint("##note", "A note of this experiment's runs", &note_);
  if (ImGui::IsItemDeactivatedAfterEdit()) keep_note(context);
}

// Stores the note if it was changed.
void HistoryPanel::keep_note(Context& context) {
  std::string text = kept_text(note_);
  if (text == noting_->before) return;
  noting_->before = text;
  store::RunNote note = note_of(context, noting_->hash);
  note.text = std::move(text);
  context.session.annotate(noting_->hash, note);
}

void HistoryPanel::draw_row(Context& context, const session::HistoryEntry& entry) {
  if (entry.observation == nullptr) return;
  const Observation& seen = *entry.observation;
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::PushID(static_cast<int>(entry.id));
  const bool picked = context.shown.history_id == entry.id;
  const bool on_show = context.shown.run == entry.id;
  const bool is_a = context.baseline.run() == entry.id;
  if (ImGui::Selectable(fmt::format("{}{}###run", entry.id,
                                    is_a      ? " A"
                                    : on_show ? " B"
                                              : "")
                            .c_str(),
                        on_show, ImGuiSelectableFlags_SpanAllColumns))
    context.session.select_history(picked ? 0 : entry.id);
  tooltip(
      "Click to look at this run, right-click to pin it as A, to take its settings, or to star it or note something.");
  if (ImGui::BeginPopupContextItem("actions")) {
    if (ImGui::MenuItem("Look at this run")) context.session.select_history(entry.id);
    const std::string untimed = why_not_pinned(entry);
    if (context.baseline.pinned && is_a) {
      if (ImGui::MenuItem("Unpin A")) context.settings.pinned.reset();
    } else {
      if (ImGui::MenuItem("Pin as A", nullptr, false, untimed.empty())) context.settings.pinned = pin_of(entry);
      tooltip(untimed);
    }
    if (ImGui::MenuItem("Compare with the shown run", nullptr, false, untimed.empty())) {
      context.settings.pinned = pin_of(entry);
      compare_.open(true);
    }
    tooltip(untimed);
    if (ImGui::MenuItem("Take its settings")) {
      Draft wish = seen.experiment;
      context.session.select_history(0);
      context.post(std::move(wish), {context.new_gesture(), true, fmt::format("settings of run {}", entry.id)});
    }
    note_items(context, seen);
    if (ImGui::MenuItem("Copy the config")) copy(seen.experiment.kernel + " " + entry.config_text);
    ImGui::Separator();
    run_items(context, seen);
    ImGui::Separator();
    export_items(context, {"runs", {}, [&] { return sheet_of(context.snapshot.history); }});
    ImGui::EndPopup();
  }
  ImGui::PopID();
  const auto cell = [](const std::string& words, ImU32 colour) {
    ImGui::TableNextColumn();
    clipped(words, ImGui::GetContentRegionAvail().x, colour);
  };
  const store::RunNote note = note_of(context, seen.hash);
  const std::string told = note.text.empty() ? (entry.change.empty() ? "\u2013" : entry.change) : note.text;
  cell(note.starred ? std::string(ICON_STAR) + " " + told : told,
       note == store::RunNote{} ? palette().text : palette().accent);
  if (!note.text.empty()) tooltip(note.text + "\n\n" + entry.change);
  ImGui::TableNextColumn();
  const Kernel* kernel = session::find_kernel(context.snapshot, seen.experiment.kernel);
  const std::string words = charts::config_words(seen.experiment, kernel, entry.config_text);
  ImGui::PushStyleColor(ImGuiCol_Text, palette().dim);
  text(shortened(words, ImGui::GetContentRegionAvail().x));
  ImGui::PopStyleColor();
  tooltip(entry.config_text);
  ImGui::TableNextColumn();
  right_aligned(seen.timing ? charts::us_text(seen.timing->p50) : "\u2013", palette().text);
  ImGui::TableNextColumn();
  if (seen.timing) {
    const ImVec2 pen = ImGui::GetCursorScreenPos();
    draw_kind_mark(ImGui::GetWindowDrawList(), {pen.x + em(0.45f), pen.y + ImGui::GetFontSize() / 2}, em(0.3f),
                   seen.timing->kind);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + em(1.0f));
    clipped(to_string(seen.timing->kind), ImGui::GetContentRegionAvail().x, colour_of(seen.timing->kind));
  }
  ImGui::TableNextColumn();
  verdict_cell(seen);
  ImGui::TableNextColumn();
  const auto error = charts::relative_error(seen);
  right_aligned(error ? charts::error_text(*error) : "\u2013", palette().text);
  ImGui::TableNextColumn();
  right_aligned(seen.variant
                    ? charts::bytes_text(seen.variant->static_shared_bytes + seen.variant->dynamic_shared_bytes)
                    : "\u2013",
                palette().text);
  ImGui::TableNextColumn();
  right_aligned(seen.occupancy ? charts::percent_text(seen.occupancy->fraction) : "\u2013", palette().text);
  ImGui::TableNextColumn();
  right_aligned(seen.variant ? std::to_string(seen.variant->registers) : "\u2013", palette().text);
  ImGui::TableNextColumn();
  right_aligned(charts::when_text(entry.finished_at, platform::wall_seconds()), palette().faint);
}

std::unique_ptr<Panel> make_history_panel(const std::filesystem::path&) { return std::make_unique<HistoryPanel>(); }

}  // namespace attnscope::ui
