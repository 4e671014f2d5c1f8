#include "ui/panels/latency_panel.h"

#include <fmt/format.h>
#include <implot/implot.h>

#include <algorithm>
#include <cmath>

#include "charts/format.h"
#include "charts/words.h"
#include "ui/icons.h"
#include "ui/widgets/part.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

using charts::ColumnState;
using charts::LatencyColumn;

constexpr double kColumnsInSight = 16;
constexpr size_t kMostLines = 4;

float column_pixels() { return ImPlot::PlotToPixels(1.0, 0.0).x - ImPlot::PlotToPixels(0.0, 0.0).x; }

// The lines of the kernel and problem on show, marked where they report its very config.
std::vector<charts::Reported> lines_for(const Context& context) {
  std::vector<charts::Reported> lines;
  const session::Draft& draft = context.draft.current();
  for (const ReportedFigure& figure : context.reported) {
    const Problem& p = figure.problem;
    const Problem& q = draft.problem;
    if (p.batch != q.batch || p.heads != q.heads || p.seq_q != q.seq_q || p.seq_k != q.seq_k ||
        p.head_dim != q.head_dim || p.causal != q.causal)
      continue;
    charts::Reported line = figure.line;
    line.same_config = figure.kernel == draft.kernel;
    for (const auto& [knob, value] : figure.knobs) {
      const auto held = draft.knobs.find(knob);
      if (held == draft.knobs.end() || held->second != value) line.same_config = false;
    }
    if (figure.kernel == draft.kernel || line.same_config) lines.push_back(line);
  }
  return lines;
}

// The power of ten under everything that is drawn: where a logarithmic axis begins.
double decade_below(const std::vector<LatencyColumn>& columns, const std::vector<charts::Reported>& lines, double low) {
  for (const LatencyColumn& column : columns)
    if (column.state == ColumnState::timed) low = std::min({low, column.p50, column.p10, column.interval_low});
  for (const charts::Reported& line : lines) low = std::min(low, line.us);
  return std::pow(10.0, std::floor(std::log10(std::max(low, 0.1))));
}

ImU32 mark_colour(const LatencyColumn& column) {
  return column.state == ColumnState::timed ? colour_of(column.kind) : palette().bad;
}

void draw_timed(ImDrawList* list, const LatencyColumn& column, float half, bool wrong, float alpha) {
  const ImU32 colour = with_alpha(mark_colour(column), alpha);
  const auto y = [&](double us) { return ImPlot::PlotToPixels(static_cast<double>(column.x), us).y; };
  const float x = ImPlot::PlotToPixels(static_cast<double>(column.x), 0.0).x;
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
  if (column.kind == FigureKind::modelled)  // hollow: its own bar does not show through
    list->AddQuadFilled({centre.x, centre.y - r}, {centre.x + r, centre.y}, {centre.x, centre.y + r},
                        {centre.x - r, centre.y}, palette().panel);
  draw_kind_mark(list, centre, r, column.kind, alpha);
  if (wrong) {
    const ImVec2 at{centre.x + r + em(0.1f), centre.y - r - em(0.6f)};
    list->AddText(nullptr, ImGui::GetFontSize() * 0.8f, at, palette().bad, ICON_TIMES_CIRCLE);
  }
}

// What a run's column is called, in two lines: "NUM_WARPS" over "4 \u2192 8"; other words where a line is full.
std::pair<std::string, std::string> label_lines(const LatencyColumn& column, float room) {
  const std::string& change = column.change;
  if (change.empty()) return {"run", std::to_string(column.run)};
  if (change.find("\u2192") != std::string::npos || width_of(change) <= room) {
    const size_t space = change.find(' ');
    if (change.find("\u2192") == std::string::npos || space == std::string::npos) return {change, ""};
    return {change.substr(0, space), change.substr(space + 1)};
  }
  const char* begin = change.c_str();
  const char* cut = ImGui::GetFont()->CalcWordWrapPosition(ImGui::GetFontSize(), begin, begin + change.size(), room);
  return {std::string(begin, cut), std::string(*cut == ' ' ? cut + 1 : cut)};
}

// The change that made a run, above its column; neighbours take turns in height where the columns are narrow, and every
// third of them alone is named where even that is too tight. `left` and `right` are the plot's edges.
void draw_label(ImDrawList* list, const LatencyColumn& column, ImVec2 top, float pitch, bool newest, float left,
                float right) {
  const auto [name, rest] = label_lines(column, std::max(pitch, em(8)));
  const float line = ImGui::GetFontSize(), wide = std::max(width_of(name), width_of(rest)) + em(0.4f);
  const bool staggered = wide > pitch;
  if (wide > pitch * 3 && !newest && column.x % 3 != 0) return;
  const float reach = staggered ? std::max(pitch * 1.95f, em(4)) : pitch;
  const float room = newest ? std::max(reach, em(9)) : reach;  // nothing stands to its right: it may lean there
  float at = top.y + (staggered && column.x % 2 != 0 ? line * 2.1f : 0);
  for (const std::string& words : {shortened(name, room), shortened(rest, room)}) {
    const float half = std::min(width_of(words), reach) / 2;
    const float x = std::clamp(top.x - half, left, std::max(left, right - width_of(words)));
    list->AddText({x, at}, newest ? palette().text : palette().dim, words.c_str());
    at += line;
  }
}

}  // namespace

void LatencyPanel::draw(Context& context) {
  progress_line(context);
  failure_view(context, Readout::latency);
  draw_headline(context);
  if (context.latency.columns.empty()) {
    empty_state(ICON_CHART, context.shown.running() ? "The first run is on its way" : "No run yet",
                "Every run becomes a column here; move a knob to make the next.");
    return;
  }
  draw_plot(context);
}

void LatencyPanel::draw_headline(Context& context) {
  const Timing* timing = context.shown.timing();
  if (timing == nullptr) {
    big_figure("\u2013", "\u00b5s", palette().faint);
    part_note(context, session::Part::timing, context.shown.config_words, context.shown.config_text);
    return;
  }
  {
    const PartScope scope(context, session::Part::timing);
    big_figure(charts::us_number(timing->p50), charts::us_unit(timing->p50), palette().text);
    draw_change(context);
    kind_badge_at_right(context.glossary, timing->kind);
  }
  part_note(context, session::Part::timing, context.shown.config_words, context.shown.config_text);
  const PartScope scope(context, session::Part::timing);
  draw_reason(context);
  std::string line;
  if (context.shown.observation->tflops) line = fmt::format("{:.2f} TFLOP/s   ", *context.shown.observation->tflops);
  line += fmt::format("{} \u2013 {}", charts::us_number(timing->interval_low), charts::us_text(timing->interval_high));
  line += timing->kind == FigureKind::modelled ? ", the model's error bar"
                                               : fmt::format(", 95 % interval of {} samples", timing->samples);
  ImGui::PushFont(nullptr, kSmallSize);
  clipped(line, ImGui::GetContentRegionAvail().x, palette().dim);
  ImGui::PopFont();
  ImGui::Dummy({0, em(0.15f)});  // the axis' topmost figure reaches above the plot
}

// The reason beside the number: never clipped, whatever the width.
void LatencyPanel::draw_reason(const Context& context) {
  const std::string reason = charts::bound_sentence(*context.shown.observation);
  if (reason.empty()) return;
  wrapped(reason, palette().text, kSmallSize);
  tooltip(context.glossary.find("bound") + " The model says which; the figure behind it is counted.");
}

// What the last change did to the figure, against the run before it.
void LatencyPanel::draw_change(Context& context) {
  const auto& columns = context.latency.columns;
  if (columns.empty() || context.shown.from_history() ||
      context.shown.state(session::Part::timing) != session::PartState::fresh)
    return;
  const std::optional<size_t> before = context.latency.previous_comparable(columns.size() - 1);
  if (!before) return;
  const charts::Change change = charts::change_between(columns[*before], columns.back());
  ImGui::SameLine(0, em(1));
  const float room = ImGui::GetContentRegionAvail().x - em(6);  // the badge's place
  if (room < em(4)) return;
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + em(0.95f));
  ImGui::PushFont(fonts().strong, 0);
  const bool same = change.tie || charts::us_text(columns[*before].p50) == charts::us_text(columns.back().p50);
  clipped(change.text, room, same ? palette().dim : change.ratio < 1 ? palette().good : palette().bad);
  ImGui::PopFont();
  tooltip(charts::us_text(columns[*before].p50) + " \u2192 " + charts::us_text(columns.back().p50) + ", against run " +
          std::to_string(columns[*before].run));
}

void LatencyPanel::draw_plot(Context& context) {
  const auto& columns = context.latency.columns;
  const std::vector<charts::Reported> lines =
      charts::visible_lines(lines_for(context), context.latency.top_us, kMostLines);
  double top = context.latency.top_us;
  for (const charts::Reported& line : lines) top = std::max(top, line.us);
  if (top <= 0) top = 1000;
  if (follow_ && followed_ != columns.size()) {
    const double last = static_cast<double>(columns.size()) - 1;
    right_ = std::max(kColumnsInSight - 0.5, last + 1.5);
    left_ = right_ - kColumnsInSight;
    if (columns.size() < 8) {  // a few runs share the width: a lone column in a corner looks lost
      left_ = -0.75;
      right_ = 7.75;
    }
    followed_ = columns.size();
    ImPlot::SetNextAxisLimits(ImAxis_X1, left_, right_, ImPlotCond_Always);
  }
  const bool log = context.view.log_latency;
  const double floor = log ? decade_below(columns, lines, top) : 0;  // us
  ImPlot::SetNextAxisLimits(ImAxis_Y1, floor, log ? top * 4 : charts::nice_top(top * 1.3), ImPlotCond_Always);
  ImGui::PushFont(nullptr, kSmallSize);
  if (ImPlot::BeginPlot("##latency", {-1, -1},
                        ImPlotFlags_NoTitle | ImPlotFlags_NoLegend | ImPlotFlags_NoMouseText | ImPlotFlags_NoMenus |
                            ImPlotFlags_NoBoxSelect)) {
    ImPlot::SetupAxis(ImAxis_X1, nullptr,
                      ImPlotAxisFlags_NoGridLines | ImPlotAxisFlags_NoTickLabels | ImPlotAxisFlags_NoTickMarks |
                          ImPlotAxisFlags_NoHighlight);
    ImPlot::SetupAxis(ImAxis_Y1, nullptr, ImPlotAxisFlags_Lock | ImPlotAxisFlags_NoHighlight);
    if (log) ImPlot::SetupAxisScale(ImAxis_Y1, ImPlotScale_Log10);
    ImPlot::SetupAxisFormat(ImAxis_Y1, [](double value, char* out, int size, void*) {
      return std::snprintf(out, static_cast<size_t>(size), "%s",
                           value == 0 ? "0 \u00b5s" : charts::with_commas(std::llround(value)).c_str());
    });
    ImPlot::SetupAxisLimitsConstraints(ImAxis_X1, -1.5,
                                       std::max(kColumnsInSight, static_cast<double>(columns.size()) + 1));
    ImPlot::SetupFinish();
    draw_columns(context);
    draw_lines(lines);
    hover_column(context);
    const ImPlotRect limits = ImPlot::GetPlotLimits();
    follow_ = limits.X.Max >= static_cast<double>(columns.size()) - 0.5;
    ImPlot::EndPlot();
  }
  ImGui::PopFont();
}

// A label stands in its own line; where two would touch they move apart and a leader joins label and line.
void LatencyPanel::draw_lines(const std::vector<charts::Reported>& lines) {
  ImDrawList* list = ImPlot::GetPlotDrawList();
  const ImVec2 low = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
  const float right = low.x + size.x, height = ImGui::GetFontSize(), pad = em(0.35f), lead = em(0.9f);
  std::vector<float> wishes;
  std::vector<std::string> words;
  for (const charts::Reported& line : lines) {
    wishes.push_back(ImPlot::PlotToPixels(0.0, line.us).y - height / 2);
    words.push_back(fmt::format("reported {} {}{}", line.label, charts::us_text(line.us),
                                line.caveat.empty() ? "" : ", not valid"));
  }
  const std::vector<float> places = charts::spread_labels(wishes, height * 1.06f, low.y, low.y + size.y);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  ImPlot::PushPlotClipRect();
  for (size_t at = 0; at < lines.size(); ++at) {
    const charts::Reported& line = lines[at];
    const float y = wishes[at] + height / 2, label_y = places[at] + height / 2;
    const ImU32 colour = palette().reported;
    const float dash = em(0.5f), weight = line.same_config ? std::max(2.0f, em(0.12f)) : std::max(1.0f, em(0.08f));
    const float label_x = right - width_of(words[at]) - pad, end = label_x - pad - lead;
    for (float x = low.x; x < end; x += dash * 1.8f)
      list->AddLine({x, y}, {std::min(x + dash, end), y}, colour, weight);
    list->AddLine({end, y}, {label_x - pad, label_y}, colour, std::max(1.0f, em(0.08f)));
    list->AddRectFilled({label_x - pad, places[at]}, {right, places[at] + height}, with_alpha(palette().panel, 0.8f));
    list->AddText({label_x, places[at]}, colour, words[at].c_str());
    const bool on_label = mouse.x > label_x && std::fabs(mouse.y - label_y) < height / 2;
    const bool on_line = mouse.x < end && std::fabs(mouse.y - y) < em(0.3f) && mouse.x > end - em(4);
    if (ImPlot::IsPlotHovered() && (on_label || on_line))
      ImGui::SetTooltip(
          "%s", (words[at] + "\n" + line.source + (line.caveat.empty() ? "" : "\nNot valid: " + line.caveat)).c_str());
  }
  ImPlot::PopPlotClipRect();
}

void LatencyPanel::draw_columns(Context& context) {
  ImDrawList* list = ImPlot::GetPlotDrawList();
  const ImVec2 low = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
  const ImPlotRect limits = ImPlot::GetPlotLimits();
  const auto& columns = context.latency.columns;
  const float pitch = column_pixels(), half = pitch * 0.5f;
  const size_t first = static_cast<size_t>(std::max(0.0, std::floor(limits.X.Min)));
  const size_t last = std::min(columns.size(), static_cast<size_t>(std::max(0.0, std::ceil(limits.X.Max) + 1)));
  ImPlot::PushPlotClipRect(em(0.5f));
  for (size_t at = first; at < last; ++at) {
    const LatencyColumn& column = columns[at];
    const bool newest = at + 1 == columns.size();
    const bool picked = context.shown.history_id == column.run;
    const float x = ImPlot::PlotToPixels(static_cast<double>(column.x), 0.0).x;
    if (newest || picked)
      list->AddRectFilled({x - half, low.y}, {x + half, low.y + size.y},
                          with_alpha(palette().accent, picked ? 0.16f : 0.07f));
    list->AddLine({x, low.y + em(4.4f)}, {x, low.y + size.y}, with_alpha(palette().line, 0.5f));
    if (column.state == ColumnState::timed)
      draw_timed(list, column, half, column.verdict == "wrong", 1.0f);
    else
      list->AddText({x - em(0.4f), low.y + size.y - em(1.6f)}, palette().bad,
                    column.state == ColumnState::failed ? ICON_WARNING : "?");
    draw_label(list, column, {x, low.y + em(0.2f)}, pitch, newest, low.x + em(0.2f), low.x + size.x - em(0.2f));
  }
  ImPlot::PopPlotClipRect();
}

void LatencyPanel::hover_column(Context& context) {
  if (!ImPlot::IsPlotHovered()) return;
  const auto& columns = context.latency.columns;
  const double at = std::round(ImPlot::GetPlotMousePos().x);
  if (at < 0 || at >= static_cast<double>(columns.size())) return;
  const LatencyColumn& column = columns[static_cast<size_t>(at)];
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
    if (!column.verdict.empty()) text("verdict: " + column.verdict);
    small_text("Click to look at it; Esc comes back.", palette().faint);
    ImGui::EndTooltip();
  }
  if (ImGui::IsMouseReleased(ImGuiMouseButton_Left) && ImGui::GetIO().MouseDragMaxDistanceSqr[0] < 16)
    context.session.select_history(column.run);
}

}  // namespace attnscope::ui
