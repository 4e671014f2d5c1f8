#include "ui/panels/history_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "charts/format.h"
#include "charts/tables.h"
#include "charts/words.h"
#include "ui/icons.h"
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
constexpr double kNothing = std::numeric_limits<double>::infinity();  // sorts last

double sort_figure(const session::HistoryEntry& entry, int column) {
  const Observation* seen = entry.observation.get();
  if (seen == nullptr) return kNothing;
  switch (column) {
    case kLatency:
      return seen->timing ? seen->timing->p50 : kNothing;
    case kError:
      return seen->verdict ? seen->verdict->rel_frobenius : kNothing;
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
    tooltip(fmt::format("{}, as the watch found; the output itself is {}.", to_string(*headline), seen.verdict->state));
}

void right_aligned(const std::string& words, ImU32 colour) {
  const float room = ImGui::GetContentRegionAvail().x, width = width_of(words);
  if (width < room) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width);
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  text(words);
  ImGui::PopStyleColor();
}

}  // namespace

void HistoryPanel::sort(const session::History& history) {
  order_.resize(history.size);
  std::iota(order_.begin(), order_.end(), size_t{0});
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

void HistoryPanel::draw(Context& context) {
  const session::History& history = context.snapshot.history;
  if (history.size == 0)
    return empty_state(ICON_HISTORY, "No run yet", "Every finished run is kept here, oldest to newest.");
  const bool comparing = compared_ != 0;
  const float side = comparing ? std::min(em(24), ImGui::GetContentRegionAvail().x * 0.42f) : 0;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const ImGuiTableFlags flags = ImGuiTableFlags_Sortable | ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg |
                                ImGuiTableFlags_Resizable | ImGuiTableFlags_Reorderable | ImGuiTableFlags_Hideable |
                                ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_BordersInnerH;
  ImGui::PushFont(nullptr, kBaseSize * 0.87f);
  if (ImGui::BeginTable("runs", kColumns, flags, {room.x - side - (comparing ? em(0.6f) : 0), 0})) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn("run", ImGuiTableColumnFlags_DefaultSort | ImGuiTableColumnFlags_PreferSortDescending,
                            0.45f, kRun);
    ImGui::TableSetupColumn("change", 0, 1.8f, kChange);
    ImGui::TableSetupColumn("config", 0, 3.0f, kConfig);
    ImGui::TableSetupColumn("latency", 0, 1.0f, kLatency);
    ImGui::TableSetupColumn("kind", 0, 1.05f, kKind);
    ImGui::TableSetupColumn("verdict", 0, 0.95f, kVerdict);
    ImGui::TableSetupColumn("rel. error", 0, 0.85f, kError);
    ImGui::TableSetupColumn("shared", 0, 0.85f, kShared);
    ImGui::TableSetupColumn("occup.", 0, 0.7f, kOccupancy);
    ImGui::TableSetupColumn("regs", 0, 0.5f, kRegisters);
    ImGui::TableSetupColumn("at", 0, 0.75f, kWhen);
    ImGui::TableHeadersRow();
    if (ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs(); specs != nullptr && specs->SpecsCount > 0) {
      const int column = static_cast<int>(specs->Specs[0].ColumnUserID);
      const bool up = specs->Specs[0].SortDirection == ImGuiSortDirection_Ascending;
      stale_ |= specs->SpecsDirty || column != sort_column_ || up != ascending_;
      sort_column_ = column;
      ascending_ = up;
      specs->SpecsDirty = false;
    }
    if (stale_ || order_.size() != history.size) sort(history);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(order_.size()));
    while (clipper.Step())
      for (int at = clipper.DisplayStart; at < clipper.DisplayEnd; ++at)
        draw_row(context, history.at(order_[static_cast<size_t>(at)]));
    ImGui::EndTable();
  }
  ImGui::PopFont();
  if (!comparing) return;
  ImGui::SameLine(0, em(0.6f));
  if (ImGui::BeginChild("compare", {0, 0})) draw_compare(context);
  ImGui::EndChild();
}

void HistoryPanel::draw_row(Context& context, const session::HistoryEntry& entry) {
  if (entry.observation == nullptr) return;
  const Observation& seen = *entry.observation;
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::PushID(static_cast<int>(entry.id));
  const bool picked = context.shown.history_id == entry.id;
  if (ImGui::Selectable(fmt::format("{}##run", entry.id).c_str(), picked, ImGuiSelectableFlags_SpanAllColumns))
    context.session.select_history(picked ? 0 : entry.id);
  tooltip("Click to look at this run, right-click to compare it or to take its settings.");
  if (ImGui::BeginPopupContextItem("actions")) {
    if (ImGui::MenuItem("Look at this run")) context.session.select_history(entry.id);
    if (ImGui::MenuItem("Compare with the shown run")) compared_ = entry.id;
    if (ImGui::MenuItem("Take its settings")) {
      session::Draft wish = draft_of(seen.experiment);
      context.session.select_history(0);
      context.post(std::move(wish), {context.new_gesture(), true, fmt::format("settings of run {}", entry.id)});
    }
    if (ImGui::MenuItem("Copy the config"))
      ImGui::SetClipboardText((seen.experiment.kernel + " " + entry.config_text).c_str());
    ImGui::EndPopup();
  }
  ImGui::PopID();
  const auto cell = [](const std::string& words, ImU32 colour) {
    ImGui::TableNextColumn();
    clipped(words, ImGui::GetContentRegionAvail().x, colour);
  };
  cell(entry.change.empty() ? "\u2013" : entry.change, palette().text);
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
  right_aligned(seen.verdict ? charts::error_text(seen.verdict->rel_frobenius) : "\u2013", palette().text);
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
  right_aligned(charts::clock_text(entry.finished_at), palette().faint);
}

void HistoryPanel::draw_compare(Context& context) {
  const session::History& history = context.snapshot.history;
  const session::HistoryEntry* entry = nullptr;
  for (size_t at = 0; at < history.size && entry == nullptr; ++at)
    if (history.at(at).id == compared_) entry = &history.at(at);
  if (entry == nullptr || entry->observation == nullptr || context.shown.observation == nullptr) {
    compared_ = 0;
    return;
  }
  ImGui::PushFont(fonts().strong, 0);
  text(fmt::format(
      ICON_EXCHANGE "  run {} and {}", compared_,
      context.shown.from_history() ? fmt::format("run {}", context.shown.history_id) : std::string("the live one")));
  ImGui::PopFont();
  ImGui::SameLine(ImGui::GetContentRegionAvail().x - em(0.8f));
  if (ImGui::SmallButton(ICON_CLOSE "##stop comparing")) {
    compared_ = 0;
    return;
  }
  ImGui::PushFont(nullptr, kBaseSize * 0.87f);
  if (ImGui::BeginTable("##compared", 4,
                        ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_ScrollY)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn("figure");
    ImGui::TableSetupColumn(fmt::format("run {}", compared_).c_str());
    ImGui::TableSetupColumn(context.shown.from_history() ? fmt::format("run {}", context.shown.history_id).c_str()
                                                         : "live");
    ImGui::TableSetupColumn("change");
    ImGui::TableHeadersRow();
    for (const charts::ComparedRow& row : charts::compare(*entry->observation, *context.shown.observation)) {
      ImGui::TableNextColumn();
      clipped(row.name, ImGui::GetContentRegionAvail().x, palette().dim);
      ImGui::TableNextColumn();
      clipped(row.before, ImGui::GetContentRegionAvail().x, palette().text);
      ImGui::TableNextColumn();
      clipped(row.after, ImGui::GetContentRegionAvail().x, row.differs ? palette().text : palette().dim);
      ImGui::TableNextColumn();
      clipped(row.change.empty() && row.differs ? "differs" : row.change, ImGui::GetContentRegionAvail().x,
              row.better > 0   ? palette().good
              : row.better < 0 ? palette().bad
                               : palette().dim);
    }
    ImGui::EndTable();
  }
  ImGui::PopFont();
}

}  // namespace attnscope::ui
