#include "ui/panels/knob_plot.h"

#include <fmt/format.h>
#include <implot/implot.h>

#include <algorithm>

#include "ui/icons.h"
#include "ui/scans.h"
#include "ui/widgets/text.h"
#include "ui/widgets/time_axis.h"

namespace attnscope::ui {
namespace {

using charts::LatencyChart;
using charts::ScanRow;
using charts::ScanSeries;
using charts::ScanState;

float label_height() { return ImGui::GetFontSize() * 1.15f; }

LatencyChart chart_of(const Scan& scan, const ScanSeries& series) {
  std::vector<charts::Run> runs;
  for (const ScanRow& row : series.rows) {
    const ScanPoint& point = scan.points[row.point];
    const auto& run = (point.same_as ? scan.points[*point.same_as] : point).observation;
    runs.push_back({runs.size() + 1, run, series.knob + "=" + row.text, ""});
  }
  LatencyChart chart;
  charts::append(chart, runs);
  return chart;
}

float x_of(size_t at) { return ImPlot::PlotToPixels(static_cast<double>(at), ImPlot::GetPlotLimits().Y.Min).x; }

void centred(ImDrawList* list, float x, float y, ImU32 colour, const std::string& words) {
  if (!words.empty()) list->AddText({x - width_of(words) / 2, y}, colour, words.c_str());
}

// Above the plot's axis, for a value without a time: a sign, and its word if there is room.
void draw_untimed(ImDrawList* list, const ScanRow& row, float x, float bottom, float room) {
  const bool waits = row.state == ScanState::waiting;
  const ImU32 colour = waits ? palette().faint : palette().bad;
  const std::string word = waits ? "waits" : row.state == ScanState::refused ? "refused" : "failed";
  if (width_of(word) < room) centred(list, x, bottom - label_height(), colour, word);
  centred(list, x, bottom - 2 * label_height(), colour, waits ? ICON_CLOCK : ICON_WARNING);
}

void draw_rows(const ScanSeries& series, const LatencyChart& chart, std::optional<size_t> hovered) {
  ImDrawList* list = ImPlot::GetPlotDrawList();
  const ImVec2 low = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
  const float bottom = low.y + size.y, half = std::min(column_pixels() * 0.5f, em(2.2f)), room = column_pixels();
  ImPlot::PushPlotClipRect();
  std::optional<ImVec2> before;
  for (size_t at = 0; at < series.rows.size(); ++at) {
    const ScanRow& row = series.rows[at];
    const float x = x_of(at);
    if (row.current || at == hovered)
      list->AddRectFilled({x - room / 2, low.y}, {x + room / 2, bottom},
                          with_alpha(palette().accent, row.current ? 0.16f : 0.07f));
    if (!row.us) {
      before.reset();
      draw_untimed(list, row, x, bottom, room);
      continue;
    }
    const ImVec2 here{x, ImPlot::PlotToPixels(static_cast<double>(at), *row.us).y};
    if (before) list->AddLine(*before, here, with_alpha(palette().dim, 0.55f), std::max(1.0f, em(0.07f)));
    before = here;
  }
  for (size_t at = 0; at < series.rows.size(); ++at) {
    const ScanRow& row = series.rows[at];
    if (!row.us) continue;
    draw_time(list, chart.columns[at], half, row.state == ScanState::faulty);
    const std::string word = row.best                         ? "fastest"
                             : row.tie                        ? "tie"
                             : row.state == ScanState::faulty ? std::string(attnscope::label(row.verdict))
                             : row.current                    ? "current"
                                                              : "";
    if (width_of(word) < room) centred(list, x_of(at), low.y + em(0.2f), palette().text, word);
  }
  ImPlot::PopPlotClipRect();
}

void set_up_values(const ScanSeries& series) {
  std::vector<double> at;
  std::vector<const char*> words;
  for (const ScanRow& row : series.rows) {
    at.push_back(static_cast<double>(at.size()));
    words.push_back(row.text.c_str());
  }
  ImPlot::SetupAxis(
      ImAxis_X1, nullptr,
      ImPlotAxisFlags_NoGridLines | ImPlotAxisFlags_NoTickMarks | ImPlotAxisFlags_Lock | ImPlotAxisFlags_NoHighlight);
  ImPlot::SetupAxisLimits(ImAxis_X1, -0.6, static_cast<double>(at.size()) - 0.4, ImPlotCond_Always);
  ImPlot::SetupAxisTicks(ImAxis_X1, at.data(), static_cast<int>(at.size()), words.data());
}

}  // namespace

void KnobPlot::draw(Context& context) {
  const Draft& draft = context.draft.current();
  const Kernel* kernel = session::find_kernel(context.snapshot, draft.kernel);
  if (kernel == nullptr || kernel->knobs.empty()) return dim_text("This kernel has no knobs.");
  for (const auto& scan : context.snapshot.scans)  // the newest scan of this experiment counts
    if (scan->id > newest_ && !scan->points.empty() && !scan->of_config() && scan->holds(draft)) {
      newest_ = scan->id;
      knob_ = scan->points.front().knob;
    }
  if (kernel->find_knob(knob_) == nullptr) knob_.clear();
  choose_knob(context, *kernel);
  const Scan* scan = knob_.empty() ? nullptr : scan_of(context.snapshot, draft, knob_);
  if (scan != nullptr) return draw_values(context, *kernel, *scan);
  wrapped("Choose a knob: every value of it runs, with the others as they are.", palette().dim, kSmallSize);
}

charts::Figure KnobPlot::figure(const Context& context) const {
  const Draft& draft = context.draft.current();
  const Scan* scan = knob_.empty() ? nullptr : scan_of(context.snapshot, draft, knob_);
  const ScanSeries series = scan != nullptr ? series_of(*scan, draft, knob_) : ScanSeries{knob_, {}, {}, 0, 0};
  return charts::figure_of(series, context.shown.config_words);
}

void KnobPlot::choose_knob(Context& context, const Kernel& kernel) {
  ImGui::PushFont(nullptr, kSmallSize);
  ImGui::SetNextItemWidth(std::min(em(12), ImGui::GetContentRegionAvail().x * 0.5f));
  if (ImGui::BeginCombo("##knob", knob_.empty() ? "choose a knob" : knob_.c_str())) {
    for (const Knob& knob : kernel.knobs) {
      const std::string why = why_not_scanned(knob);
      ImGui::BeginDisabled(!why.empty());
      if (ImGui::Selectable(knob.name.c_str(), knob.name == knob_)) {
        knob_ = knob.name;
        if (scan_of(context.snapshot, context.draft.current(), knob_) == nullptr) ask_scan(context, knob_);
      }
      ImGui::EndDisabled();
      tooltip(why.empty() ? knob.doc : why);
    }
    ImGui::EndCombo();
  }
  if (const Scan* scan = knob_.empty() ? nullptr : scan_of(context.snapshot, context.draft.current(), knob_)) {
    ImGui::SameLine();
    const ScanSeries series = series_of(*scan, context.draft.current(), knob_);
    const auto ended =
        std::ranges::count_if(series.rows, [](const ScanRow& row) { return row.state != ScanState::waiting; });
    clipped(series.over() ? charts::best_sentence(series)
                          : fmt::format("{} of {} values are done", ended, series.rows.size()),
            ImGui::GetContentRegionAvail().x, palette().text);
  }
  ImGui::PopFont();
}

void KnobPlot::draw_values(Context& context, const Kernel& kernel, const Scan& scan) const {
  const ScanSeries series = series_of(scan, context.draft.current(), knob_);
  const LatencyChart chart = chart_of(scan, series);
  ImGui::PushFont(nullptr, kSmallSize);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float height = std::max(room.y - 2 * ImPlot::GetStyle().PlotPadding.y - label_height(), em(3));
  const double headroom = static_cast<double>(std::min((label_height() + em(0.9f)) / height, 0.5f));
  if (ImPlot::BeginPlot("##values", room,
                        ImPlotFlags_NoTitle | ImPlotFlags_NoLegend | ImPlotFlags_NoMouseText | ImPlotFlags_NoMenus |
                            ImPlotFlags_NoBoxSelect)) {
    set_up_values(series);
    set_up_time_axis(charts::latency_axis(chart, context.view.latency_axis, headroom), height);
    ImPlot::SetupFinish();
    const std::optional<size_t> hovered = column_under_mouse(series.rows.size());
    draw_rows(series, chart, hovered);
    if (hovered) {
      const ScanRow& row = series.rows[*hovered];
      const bool can_run = row.state != ScanState::refused && !row.current;
      if (ImGui::BeginTooltip()) {
        ImGui::PushTextWrapPos(em(30));
        ImGui::PushFont(fonts().strong, 0);
        text(knob_ + "=" + row.text);
        ImGui::PopFont();
        ImGui::TextUnformatted(words_of(row).c_str());
        if (can_run) small_text("Click to make it the current experiment.", palette().faint);
        ImGui::PopTextWrapPos();
        ImGui::EndTooltip();
      }
      if (can_run && ImGui::IsMouseReleased(ImGuiMouseButton_Left) && ImGui::GetIO().MouseDragMaxDistanceSqr[0] < 16)
        take_value(context, *kernel.find_knob(knob_), row.value);
    }
    ImPlot::EndPlot();
  }
  ImGui::PopFont();
}

}  // namespace attnscope::ui
