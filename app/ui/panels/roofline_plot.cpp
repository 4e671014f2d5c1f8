#include "ui/panels/roofline_plot.h"

#include <fmt/format.h>
#include <implot/implot.h>

#include <algorithm>
#include <cmath>

#include "charts/format.h"
#include "ui/icons.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

using charts::Roof;
using charts::Roofline;
using charts::RooflinePoint;

ImVec2 pixels(double x, double y) { return ImPlot::PlotToPixels(x, y); }

void set_up_axis(ImAxis axis, const char* name, double low, double high) {
  ImPlot::SetupAxis(axis, name, ImPlotAxisFlags_Lock | ImPlotAxisFlags_NoHighlight);
  ImPlot::SetupAxisScale(axis, ImPlotScale_Log10);
  ImPlot::SetupAxisLimits(axis, low, high, ImPlotCond_Always);
}

// Dashed for a bandwidth, so that the two kinds differ without colour. Its name is at the visible end.
void draw_roof(ImDrawList* list, const Roofline& line, const Roof& roof) {
  const ImVec2 from = pixels(line.x_low, roof.tflops(line.x_low)), to = pixels(line.x_high, roof.tflops(line.x_high));
  const ImU32 colour = palette().dim;
  const float width = std::max(1.2f, em(0.09f));
  if (!roof.bandwidth) {
    list->AddLine(from, to, colour, width);
    list->AddText({to.x - width_of(roof.name) - em(0.4f), to.y - ImGui::GetFontSize() * 1.1f}, colour,
                  roof.name.c_str());
    return;
  }
  const float length = std::hypot(to.x - from.x, to.y - from.y), dash = em(0.5f);
  const ImVec2 step{(to.x - from.x) / length, (to.y - from.y) / length};
  for (float at = 0; at < length; at += 2 * dash) {
    const float end = std::min(at + dash, length);
    list->AddLine({from.x + step.x * at, from.y + step.y * at}, {from.x + step.x * end, from.y + step.y * end}, colour,
                  width);
  }
  // Where the roof enters the plot, from the left or from below.
  const double x = std::max(line.x_low, line.y_low / roof.tflops(1)) * 1.15;
  const ImVec2 at = pixels(x, roof.tflops(x));
  list->AddText({at.x + em(0.5f), at.y - em(0.2f)}, colour, roof.name.c_str());
}

void draw_point(ImDrawList* list, const RooflinePoint& point, bool hovered) {
  const ImVec2 at = pixels(point.intensity, point.tflops);
  const bool named = point.is_a || point.is_b;
  const float radius = em(named ? 0.42f : 0.26f);
  if (hovered) list->AddCircle(at, radius + em(0.25f), palette().accent, 0, std::max(1.5f, em(0.1f)));
  draw_kind_mark(list, at, radius, point.kind, named ? 1.0f : 0.6f);
  if (point.faulty) list->AddText({at.x - radius - em(1), at.y - em(0.5f)}, palette().bad, ICON_TIMES_CIRCLE);
  if (named) list->AddText({at.x + radius + em(0.25f), at.y - em(0.5f)}, palette().text, point.is_b ? "B" : "A");
}

std::optional<size_t> point_under_mouse(const Roofline& line) {
  if (!ImPlot::IsPlotHovered()) return std::nullopt;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  std::optional<size_t> nearest;
  float least = em(0.8f);
  for (size_t at = 0; at < line.points.size(); ++at) {
    const ImVec2 there = pixels(line.points[at].intensity, line.points[at].tflops);
    const float away = std::hypot(there.x - mouse.x, there.y - mouse.y);
    if (away > least) continue;
    least = away;
    nearest = at;
  }
  return nearest;
}

const Roof* roof_under_mouse(const Roofline& line) {
  if (!ImPlot::IsPlotHovered()) return nullptr;
  const ImPlotPoint mouse = ImPlot::GetPlotMousePos();
  for (const Roof& roof : line.roofs)
    if (std::fabs(pixels(mouse.x, roof.tflops(mouse.x)).y - ImGui::GetIO().MousePos.y) < em(0.35f)) return &roof;
  return nullptr;
}

void point_at(Context& context, const RooflinePoint& point) {
  const auto column = context.latency.column_of(point.run);
  if (!column) return;
  const charts::LatencyColumn& run = context.latency.columns[*column];
  if (ImGui::BeginTooltip()) {
    ImGui::PushFont(fonts().strong, 0);
    text(fmt::format("run {}{}{}", run.run, run.change.empty() ? "" : ": ", run.change));
    ImGui::PopFont();
    dim_text(run.kernel + "  " + run.config_text);
    text(fmt::format("{:.3g} TFLOP/s {}, {}", point.tflops, to_string(point.kind), charts::us_text(run.p50)));
    if (!point.roof.empty())
      text(fmt::format("{} of the roof above it, {}", charts::percent_text(point.share), point.roof));
    small_text("Click to look at it; Esc comes back.", palette().faint);
    ImGui::EndTooltip();
  }
  if (ImGui::IsMouseReleased(ImGuiMouseButton_Left) && ImGui::GetIO().MouseDragMaxDistanceSqr[0] < 16)
    context.session.select_history(point.run);
}

void draw_plot(Context& context, const Roofline& line) {
  ImDrawList* list = ImPlot::GetPlotDrawList();
  const std::optional<size_t> hovered = point_under_mouse(line);
  ImPlot::PushPlotClipRect();
  for (const Roof& roof : line.roofs) draw_roof(list, line, roof);
  const auto a = std::ranges::find(line.points, true, &RooflinePoint::is_a);
  const auto b = std::ranges::find(line.points, true, &RooflinePoint::is_b);
  if (a != line.points.end() && b != line.points.end())
    list->AddLine(pixels(a->intensity, a->tflops), pixels(b->intensity, b->tflops), palette().accent,
                  std::max(1.5f, em(0.1f)));
  for (size_t at = 0; at < line.points.size(); ++at) draw_point(list, line.points[at], at == hovered);
  ImPlot::PopPlotClipRect();
  if (hovered)
    point_at(context, line.points[*hovered]);
  else if (const Roof* roof = roof_under_mouse(line))
    ImGui::SetTooltip("%s\n%s", roof->name.c_str(), roof->about.c_str());
}

const DeviceSpec* spec_of(const Context& context) {
  const auto& shown = context.shown.observation;
  return shown ? session::find_device(context.snapshot, shown->experiment.device) : nullptr;
}

Roofline line_of(const Context& context, const DeviceSpec& spec) {
  return charts::roofline(context.latency, spec, context.baseline.run(), context.shown.run);
}

}  // namespace

charts::Figure RooflinePlot::figure(const Context& context) {
  const DeviceSpec* spec = spec_of(context);
  return spec != nullptr ? charts::figure_of(line_of(context, *spec), spec->name) : charts::Figure();
}

void RooflinePlot::draw(Context& context) {
  const DeviceSpec* spec = spec_of(context);
  if (spec == nullptr) return dim_text("The device of this run is not here, so its ceilings are not known.");
  const Roofline line = line_of(context, *spec);
  if (!line.why_not.empty()) return wrapped(line.why_not, palette().dim, kSmallSize);
  ImGui::PushFont(nullptr, kSmallSize);
  if (ImPlot::BeginPlot("##roofline", ImGui::GetContentRegionAvail(),
                        ImPlotFlags_NoTitle | ImPlotFlags_NoLegend | ImPlotFlags_NoMouseText | ImPlotFlags_NoMenus |
                            ImPlotFlags_NoBoxSelect)) {
    set_up_axis(ImAxis_X1, "operations per compulsory byte", line.x_low, line.x_high);
    set_up_axis(ImAxis_Y1, "TFLOP/s", line.y_low, line.y_high);
    ImPlot::SetupFinish();
    draw_plot(context, line);
    ImPlot::EndPlot();
  }
  ImGui::PopFont();
}

}  // namespace attnscope::ui
