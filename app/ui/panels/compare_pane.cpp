#include "ui/panels/compare_pane.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "charts/compared_settings.h"
#include "ui/export_menu.h"
#include "ui/icons.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

constexpr float kSize = kBaseSize * 0.87f;
constexpr size_t kFirstFigures = 2;  // latency and verdict are above the settings, the others below

std::string change_of(const charts::ComparedRow& row) {
  return row.change.empty() && row.differs ? "differs" : row.change;
}

}  // namespace

bool ComparePane::refresh(const Context& context) {
  const session::HistoryEntry* entry = context.baseline.entry;
  const Observation* shown = context.shown.observation.get();
  if (entry == nullptr || entry->observation == nullptr || shown == nullptr) {
    open_ = false;
    return false;
  }
  const Experiment &a = entry->observation->experiment, &b = shown->experiment;
  before_ = fmt::format("A, run {}", entry->id);
  after_ = context.shown.run != 0 ? fmt::format("B, run {}", context.shown.run) : "live";
  settings_ = charts::compared_settings(a, b, session::find_kernel(context.snapshot, a.kernel),
                                        session::find_kernel(context.snapshot, b.kernel));
  if (settings_.empty()) settings_.push_back({"settings", "the same", "the same", "", 0, false});
  figures_ = charts::compare(*entry->observation, *shown);
  return true;
}

float ComparePane::wanted_width() const {
  ImGui::PushFont(nullptr, kSize);
  std::array<float, 4> widest{width_of("figure"), width_of(before_), width_of(after_), width_of("change")};
  for (const auto* rows : {&settings_, &figures_})
    for (const charts::ComparedRow& row : *rows) {
      const std::array<std::string, 4> cells{row.name, row.before, row.after, change_of(row)};
      for (size_t at = 0; at < cells.size(); ++at) widest[at] = std::max(widest[at], width_of(cells[at]));
    }
  ImGui::PopFont();
  const float padding = 2 * ImGui::GetStyle().CellPadding.x * 4 + ImGui::GetStyle().ScrollbarSize + em(1);
  return widest[0] + widest[1] + widest[2] + widest[3] + padding;
}

void ComparePane::draw(Context& context) {
  const float button = width_of(ICON_CLOSE) + 2 * ImGui::GetStyle().FramePadding.x;
  ImGui::PushFont(fonts().strong, 0);
  clipped(fmt::format(ICON_EXCHANGE "  {} and {}", before_, after_ == "live" ? "the live one" : after_),
          ImGui::GetContentRegionAvail().x - button - em(0.5f), palette().text);
  ImGui::PopFont();
  ImGui::SameLine(0, 0);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - button);
  const bool close = ImGui::SmallButton(ICON_CLOSE "###stop comparing");
  tooltip("Close (Esc)");
  if (close) open_ = false;
  ImGui::PushFont(nullptr, kSize);
  if (ImGui::BeginTable("##compared", 4,
                        ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollY |
                            ImGuiTableFlags_NoHostExtendX)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    for (const char* name : {"figure", before_.c_str(), after_.c_str(), "change"}) ImGui::TableSetupColumn(name);
    ImGui::TableHeadersRow();
    const size_t first = std::min(kFirstFigures, figures_.size());
    for (size_t at = 0; at < first; ++at) draw_row(figures_[at]);
    for (const charts::ComparedRow& row : settings_) draw_row(row);
    const auto sheet = [&] {
      std::vector<charts::ComparedRow> rows = settings_;
      rows.insert(rows.end(), figures_.begin(), figures_.end());
      return charts::sheet_of(rows);
    };
    export_menu(context, {"compared", {}, sheet});
    for (size_t at = first; at < figures_.size(); ++at) draw_row(figures_[at]);
    ImGui::EndTable();
  }
  ImGui::PopFont();
}

void ComparePane::draw_row(const charts::ComparedRow& row) const {
  const auto cell = [](const std::string& words, ImU32 colour) {
    ImGui::TableNextColumn();
    ImGui::PushStyleColor(ImGuiCol_Text, colour);
    text(words);
    ImGui::PopStyleColor();
  };
  cell(row.name, palette().dim);
  cell(row.before, palette().text);
  cell(row.after, row.differs ? palette().text : palette().dim);
  cell(change_of(row), row.better > 0 ? palette().good : row.better < 0 ? palette().bad : palette().dim);
}

}  // namespace attnscope::ui
