// The latency panel's plot: columns, names, the rug of reported figures.
#include "ui/panels/latency_plot.h"

#include <fmt/format.h>
#include <implot/implot.h>

#include <algorithm>
#include <cmath>

#include "charts/format.h"
#include "ui/icons.h"
#include "ui/widgets/text.h"
#include "ui/widgets/time_axis.h"

namespace attnscope::ui {
namespace {

using charts::AxisChoice;
using charts::ColumnState;
using charts::LatencyAxis;
using charts::LatencyColumn;

constexpr int kNameRows = 2;
constexpr size_t kFewColumns = 8;  // this few share the whole width, so that a single column is not in a corner

float x_of(const LatencyColumn& column) {
  return ImPlot::PlotToPixels(static_cast<double>(column.x), ImPlot::GetPlotLimits().Y.Min).x;
}

float name_height() { return ImGui::GetFontSize() * 1.15f; }

// The reported figures for the shown kernel, problem and GPU, emulated or not, marked if they report exactly its
// config. The inputs' values do not matter.
std::vector<charts::Reported> lines_for(const Context& context) {
  std::vector<charts::Reported> lines;
  const Draft& draft = context.draft.current();
  const DeviceSpec* device = session::find_device(context.snapshot, draft.device);
  if (device == nullptr) return lines;
  for (const ReportedFigure& figure : context.reported) {
    Problem reported = figure.problem;
    reported.seed = draft.problem.seed;
    reported.distribution = draft.problem.distribution;
    if (reported != draft.problem || figure.device != device->name) continue;
    charts::Reported line = figure.line;
    line.same_config = figure.kernel == draft.kernel;
    for (const auto& [knob, value] : figure.knobs) {
      const auto held = draft.config.knobs.find(knob);
      if (held == draft.config.knobs.end() || held->second != value) line.same_config = false;
    }
    if (figure.kernel == draft.kernel || line.same_config) lines.push_back(line);
  }
  return lines;
}

std::string name_of(const LatencyColumn& column, const char* role) {
  std::string words = fmt::format("run {}{}", column.run, role);
  if (!column.change.empty()) words += "  " + column.change;
  return words;
}

std::string words_of(const charts::Reported& line) {
  return fmt::format("{}  {}{}", line.label, charts::us_text(line.us), line.caveat.empty() ? "" : ", not valid");
}

}  // namespace

void LatencyPlot::draw(Context& context) {
  const std::vector<charts::Reported> lines = lines_for(context);
  ImGui::PushFont(nullptr, kSmallSize);
  const ImVec2 room = ImGui::GetContentRegionAvail(), corner = ImGui::GetCursorScreenPos();
  float words = width_of("reported");
  for (const charts::Reported& line : lines) words = std::max(words, width_of(words_of(line)));
  const bool named = !lines.empty() && words + em(3) < room.x * 0.28f;
  const float margin = lines.empty() ? 0 : named ? words + em(3) : em(1.5f);
  const float pad = ImPlot::GetStyle().PlotPadding.y, height = std::max(room.y - 2 * pad, em(3));
  const float band = kNameRows * name_height() + em(0.9f);
  const LatencyAxis axis = charts::latency_axis(context.latency, context.view.latency_axis,
                                                static_cast<double>(std::min(band / height, 0.5f)));
  if (const unsigned plot = ImGui::GetID("##latency"); plot != plot_) {
    plot_ = plot;
    in_sight_ = 0;  // another plot has other limits
    follow_ = true;
  }
  if (ImPlot::BeginPlot("##latency", {room.x - margin, room.y},
                        ImPlotFlags_NoTitle | ImPlotFlags_NoLegend | ImPlotFlags_NoMouseText | ImPlotFlags_NoMenus |
                            ImPlotFlags_NoBoxSelect)) {
    set_up_axes(context, axis, room.x - margin, height);
    const std::optional<size_t> hovered = column_under_mouse(context.latency.columns.size());
    draw_columns(context, hovered);
    draw_names(context, hovered);
    if (!lines.empty()) draw_rug(lines, axis, margin, named);
    if (hovered) point_at(context, *hovered);
    follow_ = ImPlot::GetPlotLimits().X.Max >= static_cast<double>(context.latency.columns.size()) - 0.5;
    ImPlot::EndPlot();
  }
  choose_axis(context, axis, corner);  // drawn last, because it moves the cursor to the corner
  ImGui::PopFont();
}

void LatencyPlot::set_up_axes(const Context& context, const LatencyAxis& axis, float width, float height) {
  const size_t count = context.latency.columns.size();
  const double fit = std::clamp(std::floor(static_cast<double>(width / em(2.2f))), 12.0, 64.0);
  if (follow_ && (followed_ != count || in_sight_ != fit)) {
    double right = std::max(fit - 0.5, static_cast<double>(count) + 0.25), left = right - fit;
    if (count < kFewColumns) {
      left = -0.75;
      right = static_cast<double>(kFewColumns) - 0.25;
    } else if (static_cast<double>(count) < fit) {  // all columns, over the whole width
      left = -0.75;
      right = static_cast<double>(count) + 0.25;
    }
    followed_ = count;
    in_sight_ = fit;
    ImPlot::SetupAxisLimits(ImAxis_X1, left, right, ImPlotCond_Always);
  }
  ImPlot::SetupAxis(ImAxis_X1, nullptr,
                    ImPlotAxisFlags_NoGridLines | ImPlotAxisFlags_NoTickLabels | ImPlotAxisFlags_NoTickMarks |
                        ImPlotAxisFlags_NoHighlight);
  set_up_time_axis(axis, height);
  ImPlot::SetupAxisLimitsConstraints(ImAxis_X1, -1.5, std::max(fit, static_cast<double>(count) + 1));
  ImPlot::SetupFinish();
}

void LatencyPlot::draw_columns(const Context& context, std::optional<size_t> hovered) const {
  ImDrawList* list = ImPlot::GetPlotDrawList();
  const ImVec2 low = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
  const ImPlotRect limits = ImPlot::GetPlotLimits();
  const auto& columns = context.latency.columns;
  const float half = column_pixels() * 0.5f, top = low.y + kNameRows * name_height() + em(0.3f);
  // A column whose centre is outside the view is not drawn, and no mark extends over the axis.
  list->PushClipRect({low.x, low.y}, {low.x + size.x, low.y + size.y + em(0.5f)}, true);
  for (size_t at = 0; at < columns.size(); ++at) {
    const LatencyColumn& column = columns[at];
    if (static_cast<double>(column.x) < limits.X.Min || static_cast<double>(column.x) > limits.X.Max) continue;
    const bool live = context.shown.run == column.run, compared = context.baseline.run() == column.run;
    const float x = x_of(column);
    if (live || at == hovered)
      list->AddRectFilled({x - half, top}, {x + half, low.y + size.y},
                          with_alpha(palette().accent, live ? 0.16f : 0.07f));
    if (compared)  // an outline, to distinguish it from the live one without colour
      list->AddRect({x - half, top}, {x + half, low.y + size.y}, with_alpha(palette().accent, 0.7f));
    list->AddLine({x, top}, {x, low.y + size.y}, with_alpha(palette().line, 0.5f));
    if (column.state == ColumnState::timed)
      draw_time(list, column, half, column.headline && is_fault(*column.headline));
    else
      list->AddText({x - em(0.4f), low.y + size.y - em(1.6f)}, palette().bad,
                    column.state == ColumnState::failed ? ICON_WARNING : "?");
  }
  list->PopClipRect();
}

// Drawn in the free band above the columns.
void LatencyPlot::draw_names(const Context& context, std::optional<size_t> hovered) {
  const auto& columns = context.latency.columns;
  const uint64_t live = context.shown.run;
  const ImVec2 low = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
  const ImPlotRect limits = ImPlot::GetPlotLimits();
  std::vector<size_t> at;
  std::vector<std::string> words;
  std::vector<charts::LabelWish> wishes;
  for (const size_t index :
       charts::named_columns(context.latency, hovered ? columns[*hovered].run : 0, live, context.baseline.run())) {
    const LatencyColumn& column = columns[index];
    if (static_cast<double>(column.x) < limits.X.Min || static_cast<double>(column.x) > limits.X.Max) continue;
    const char* role = column.run == context.baseline.run() ? ", A" : "";
    at.push_back(index);
    words.push_back(shortened(name_of(column, role), std::min(em(22), size.x - em(0.6f))));
    wishes.push_back({x_of(column), width_of(words.back())});
  }
  const auto places = charts::place_labels(wishes, low.x + em(0.3f), low.x + size.x - em(0.3f), em(1), kNameRows);
  ImDrawList* list = ImPlot::GetPlotDrawList();
  for (size_t i = 0; i < at.size(); ++i) {
    if (!places[i]) continue;
    const ImVec2 pen{places[i]->left, low.y + em(0.15f) + static_cast<float>(places[i]->row) * name_height()};
    list->AddText(pen, columns[at[i]].run == live ? palette().text : palette().dim, words[i].c_str());
  }
}

// Two short dashes at each reported figure, beside the plot and never in it, with an arrow if the figure is beyond the
// axis. Its name is shown if there is room, otherwise on hover.
void LatencyPlot::draw_rug(const std::vector<charts::Reported>& lines, const LatencyAxis& axis, float margin,
                           bool named) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 low = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
  const float left = low.x + size.x + em(0.35f), height = ImGui::GetFontSize(), band = name_height() * kNameRows;
  const std::vector<charts::RugMark> rug = charts::reported_rug(lines, axis);
  std::vector<float> ys, wishes;
  for (const charts::RugMark& mark : rug) {
    const float y = ImPlot::PlotToPixels(ImPlot::GetPlotLimits().X.Min, mark.us).y;
    ys.push_back(mark.beyond > 0 ? low.y + band : y);
    wishes.push_back(ys.back() - height / 2);
  }
  const std::vector<float> places =
      charts::spread_labels(wishes, height * 1.06f, low.y + band - height / 2, low.y + size.y);
  const ImU32 colour = palette().reported;
  std::string hovered;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  for (size_t at = 0; at < rug.size(); ++at) {
    const charts::Reported& line = lines[rug[at].line];
    const float y = ys[at], weight = line.same_config ? std::max(2.5f, em(0.2f)) : std::max(1.0f, em(0.09f));
    if (rug[at].beyond == 0) {
      list->AddLine({left, y}, {left + em(0.4f), y}, colour, weight);
      list->AddLine({left + em(0.6f), y}, {left + em(1), y}, colour, weight);
    } else {
      const float tip = y - static_cast<float>(rug[at].beyond) * em(0.4f);
      list->AddTriangleFilled({left + em(0.2f), y}, {left + em(0.8f), y}, {left + em(0.5f), tip}, colour);
    }
    const float label_x = left + em(2.1f);
    if (named) {
      list->AddLine({left + em(1.1f), y}, {label_x - em(0.3f), places[at] + height / 2}, with_alpha(colour, 0.7f),
                    std::max(1.0f, em(0.07f)));
      ImGui::PushFont(line.same_config ? fonts().strong : nullptr, 0);
      list->AddText({label_x, places[at]}, colour, words_of(line).c_str());
      ImGui::PopFont();
    }
    const bool on_mark = mouse.x >= left - em(0.3f) && mouse.x < left + em(1.3f) && std::fabs(mouse.y - y) < em(0.35f);
    const bool on_name = named && mouse.x >= label_x && mouse.x < low.x + size.x + margin &&
                         std::fabs(mouse.y - places[at] - height / 2) < height / 2;
    if (on_mark || on_name)
      hovered += (hovered.empty() ? "" : "\n\n") + ("reported  " + words_of(line)) + "\n" + line.source +
                 (line.caveat.empty() ? "" : "\nNot valid: " + line.caveat);
  }
  if (named) list->AddText({left + em(2.1f), low.y + em(0.15f)}, palette().faint, "reported");
  if (!hovered.empty() && ImGui::IsWindowHovered()) ImGui::SetTooltip("%s", hovered.c_str());
}

// In the corner above the axis' marks: the kind of axis, and the choice.
void LatencyPlot::choose_axis(Context& context, const LatencyAxis& axis, ImVec2 at) {
  ImGui::SetCursorScreenPos({at.x + em(0.2f), at.y + em(0.2f)});
  ImGui::PushStyleColor(ImGuiCol_Button, 0);
  ImGui::PushStyleColor(ImGuiCol_Text, palette().dim);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {em(0.2f), 0});
  if (ImGui::SmallButton(axis.log ? "log###axis" : "lin###axis")) ImGui::OpenPopup("axis");
  ImGui::PopStyleVar();
  ImGui::PopStyleColor(2);
  tooltip(fmt::format("The axis is {}{}. Click to choose.", axis.log ? "logarithmic" : "linear",
                      context.view.latency_axis != AxisChoice::automatic ? ""
                      : axis.log ? " automatically, since the figures span more than a factor of ten"
                                 : " automatically, since the figures span no more than a factor of ten"));
  if (!ImGui::BeginPopup("axis")) return;
  for (const auto& [choice, words] : {std::pair{AxisChoice::automatic, "automatic"},
                                      {AxisChoice::linear, "linear"},
                                      {AxisChoice::logarithmic, "logarithmic"}})
    if (ImGui::MenuItem(words, nullptr, context.view.latency_axis == choice)) context.view.latency_axis = choice;
  ImGui::EndPopup();
}

void LatencyPlot::point_at(Context& context, size_t index) {
  const LatencyColumn& column = context.latency.columns[index];
  if (ImGui::BeginTooltip()) {
    ImGui::PushFont(fonts().strong, 0);
    text(fmt::format("run {}{}{}", column.run, column.change.empty() ? "" : ": ", column.change));
    ImGui::PopFont();
    dim_text(column.kernel + "  " + column.config_text);
    dim_text(column.problem + "  on " + column.device);
    if (column.state == ColumnState::timed)
      text(fmt::format("{} {}   {} \u2013 {}", charts::us_text(column.p50), to_string(column.kind),
                       charts::us_number(column.interval_low), charts::us_text(column.interval_high)));
    if (!column.failure.empty()) text("stopped at " + column.failure);
    if (column.headline) text(fmt::format("verdict: {}", to_string(*column.headline)));
    small_text("Click to look at it; Esc comes back.", palette().faint);
    ImGui::EndTooltip();
  }
  if (ImGui::IsMouseReleased(ImGuiMouseButton_Left) && ImGui::GetIO().MouseDragMaxDistanceSqr[0] < 16)
    context.session.select_history(column.run);
}

}  // namespace attnscope::ui
