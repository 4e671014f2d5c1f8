#include "ui/widgets/time_axis.h"

#include <implot/implot.h>

#include <algorithm>
#include <cmath>

#include "ui/icons.h"
#include "ui/theme.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

using charts::ColumnState;
using charts::LatencyColumn;

ImU32 mark_colour(const LatencyColumn& column) {
  return column.state == ColumnState::timed ? colour_of(column.kind) : palette().bad;
}

}  // namespace

void draw_time(ImDrawList* list, const LatencyColumn& column, float half, bool faulty, float alpha) {
  const ImU32 colour = with_alpha(mark_colour(column), alpha);
  const double least = ImPlot::GetPlotLimits().Y.Min;  // a logarithmic axis cannot show values below it
  const auto y = [&](double us) { return ImPlot::PlotToPixels(static_cast<double>(column.x), std::max(us, least)).y; };
  const float x = ImPlot::PlotToPixels(static_cast<double>(column.x), least).x;
  const float line = std::max(1.5f, em(0.1f)), r = std::clamp(half * 0.45f, em(0.28f), em(0.46f));
  if (column.kind == FigureKind::measured) {
    for (size_t at = 0; at < column.samples.size(); ++at) {  // left to right in the order taken
      const float share = (static_cast<float>(at) + 0.5f) / static_cast<float>(column.samples.size());
      const ImVec2 dot{x + half * 0.8f * (2 * share - 1), y(static_cast<double>(column.samples[at]))};
      const float side = std::max(0.75f, em(0.06f));
      list->AddRectFilled({dot.x - side, dot.y - side}, {dot.x + side, dot.y + side}, with_alpha(colour, 0.55f));
    }
    list->AddRectFilled({x - half * 0.55f, y(column.p90)}, {x + half * 0.55f, y(column.p10)}, with_alpha(colour, 0.30f),
                        em(0.1f));
    list->AddLine({x - half * 0.55f, y(column.p90)}, {x + half * 0.55f, y(column.p90)}, colour, line);
    list->AddLine({x - half * 0.55f, y(column.p10)}, {x + half * 0.55f, y(column.p10)}, colour, line);
  }
  if (column.interval_high > column.interval_low) {
    const float low = y(column.interval_low), high = y(column.interval_high), cap = half * 0.3f;
    list->AddLine({x, high}, {x, low}, with_alpha(colour, 0.75f), line);
    list->AddLine({x - cap, high}, {x + cap, high}, with_alpha(colour, 0.75f), line);
    list->AddLine({x - cap, low}, {x + cap, low}, with_alpha(colour, 0.75f), line);
  }
  const ImVec2 centre{x, y(column.p50)};
  if (column.kind == FigureKind::modelled)  // hollow, but its own bar must not show through
    list->AddQuadFilled({centre.x, centre.y - r}, {centre.x + r, centre.y}, {centre.x, centre.y + r},
                        {centre.x - r, centre.y}, palette().panel);
  draw_kind_mark(list, centre, r, column.kind, alpha);
  if (faulty) {
    const ImVec2 at{centre.x + r + em(0.1f), centre.y - r - em(0.6f)};
    list->AddText(nullptr, ImGui::GetFontSize() * 0.8f, at, palette().bad, ICON_TIMES_CIRCLE);
  }
}

std::optional<size_t> column_under_mouse(size_t count) {
  if (!ImPlot::IsPlotHovered()) return std::nullopt;
  const double at = std::round(ImPlot::GetPlotMousePos().x);
  if (at < 0 || at >= static_cast<double>(count)) return std::nullopt;
  return static_cast<size_t>(at);
}

float column_pixels() {
  const double y = ImPlot::GetPlotLimits().Y.Min;
  return ImPlot::PlotToPixels(1.0, y).x - ImPlot::PlotToPixels(0.0, y).x;
}

void set_up_time_axis(const charts::LatencyAxis& axis, float height) {
  ImPlot::SetupAxis(ImAxis_Y1, nullptr, ImPlotAxisFlags_Lock | ImPlotAxisFlags_NoHighlight);
  if (axis.log) ImPlot::SetupAxisScale(ImAxis_Y1, ImPlotScale_Log10);
  ImPlot::SetupAxisLimits(ImAxis_Y1, axis.low, axis.high, ImPlotCond_Always);
  const std::vector<double> marks = charts::axis_marks(axis, static_cast<size_t>(height / em(2.6f)));
  std::vector<std::string> words;
  for (const double mark : marks) words.push_back(charts::mark_text(mark) + (mark == marks.front() ? " \u00b5s" : ""));
  std::vector<const char*> labels;
  for (const std::string& word : words) labels.push_back(word.c_str());
  ImPlot::SetupAxisTicks(ImAxis_Y1, marks.data(), static_cast<int>(marks.size()), labels.data());
}

}  // namespace attnscope::ui
