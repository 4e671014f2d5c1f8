#include "ui/panels/latency_panel.h"

#include <fmt/format.h>

#include "charts/format.h"
#include "charts/words.h"
#include "ui/export_menu.h"
#include "ui/icons.h"
#include "ui/panels/panels.h"
#include "ui/widgets/part.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

constexpr float kLeastPlot = 5;  // ems of height: a lower plot cannot be read

ImU32 standing_colour(const charts::Standing& standing) {
  const int better = charts::better(standing);
  return better > 0 ? palette().good : better < 0 ? palette().bad : palette().dim;
}

// Buttons with an edge stand apart.
float gap_of_views() { return is_contrast(theme_mode()) ? em(0.3f) : 0; }

}  // namespace

charts::Figure LatencyPanel::figure(const Context& context) const {
  switch (context.view.latency_view) {
    case LatencyView::runs:
      break;
    case LatencyView::knob:
      return by_knob_.figure(context);
    case LatencyView::roofline:
      return RooflinePlot::figure(context);
  }
  return charts::figure_of(context.latency, context.view.latency_axis, context.baseline.run(), context.shown.run);
}

void LatencyPanel::draw(Context& context) {
  draw_content(context);
  export_menu(context, {"latency", [&] { return figure(context); }});  // after the plot, which takes the click first
}

void LatencyPanel::draw_content(Context& context) {
  progress_line(context);
  failure_view(context, Readout::latency);
  draw_headline(context);
  if (ImGui::GetContentRegionAvail().y < em(kLeastPlot)) return;  // the strip below is tall
  if (context.view.latency_view == LatencyView::knob) return by_knob_.draw(context);
  if (context.latency.columns.empty()) {
    empty_state(ICON_CHART, context.shown.running() ? "The first run is on its way" : "No run yet",
                "Every run becomes a column here; move a knob to make the next.");
    return;
  }
  if (context.view.latency_view == LatencyView::roofline) return roofline_.draw(context);
  plot_.draw(context);
}

void LatencyPanel::draw_headline(Context& context) {
  const Timing* timing = context.shown.timing();
  if (timing == nullptr) {
    big_figure("\u2013", "\u00b5s", palette().faint);
    part_note(context, session::Part::timing, context.shown.config_words, context.shown.config_text);
    return choose_view(context);
  }
  {
    const PartScope scope(context, session::Part::timing);
    big_figure(charts::us_number(timing->p50), charts::us_unit(timing->p50), palette().text);
    if (!narrow()) draw_change(context);
    kind_badge_at_right(context.glossary, timing->kind);
    if (narrow()) draw_change_line(context);
  }
  part_note(context, session::Part::timing, context.shown.config_words, context.shown.config_text);
  const PartScope scope(context, session::Part::timing);
  draw_reason(context);
  std::string line =
      fmt::format("{} \u2013 {}", charts::us_number(timing->interval_low), charts::us_text(timing->interval_high));
  line += timing->kind == FigureKind::modelled ? ", error bar"
                                               : fmt::format(", 95 % interval of {} samples", timing->samples);
  if (context.shown.observation->tflops) line += fmt::format("   {:.2f} TFLOP/s", *context.shown.observation->tflops);
  ImGui::PushFont(nullptr, kSmallSize);
  clipped(line, ImGui::GetContentRegionAvail().x - views_width(), palette().dim);
  ImGui::PopFont();
  ImGui::SameLine(0, 0);
  choose_view(context);
  ImGui::Dummy({0, em(0.15f)});  // the axis' top label extends above the plot
}

// The reason beside the number is never clipped, whatever the width. A running experiment has its counters before its
// time, so the shown time of the previous run keeps its own reason.
void LatencyPanel::draw_reason(const Context& context) {
  const std::string older = context.shown.from(session::Part::timing);
  if (older.empty() || older == context.shown.from(session::Part::counters)) {
    const Observation& seen = *context.shown.observation;
    reason_ = charts::bound_sentence(seen);
    bound_ = seen.timing ? seen.timing->bound : Bound::unknown;
  }
  if (reason_.empty()) return;
  wrapped(reason_, palette().text, kSmallSize);
  const std::string& meaning = context.glossary.find(word_of(bound_));
  tooltip(context.glossary.find("bound") + " The model says which; the figure behind it is counted." +
          (meaning.empty() ? "" : "\n" + std::string(to_string(bound_)) + ": " + meaning));
}

constexpr std::pair<LatencyView, const char*> kViews[] = {
    {LatencyView::runs, "runs"}, {LatencyView::knob, "by knob"}, {LatencyView::roofline, "roofline"}};

float LatencyPanel::views_width() {
  float width = gap_of_views() * f32(double(std::size(kViews)) - 1);
  for (const auto& [view, words] : kViews) width += width_of(words) + em(0.8f);
  return width;
}

// Chooses what is plotted; at the right end of the line.
void LatencyPanel::choose_view(Context& context) {
  ImGui::PushFont(nullptr, kSmallSize);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - views_width());
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {em(0.4f), 0});
  ImGui::PushStyleColor(ImGuiCol_Button, 0);
  for (const auto& [view, words] : kViews) {
    const bool chosen = context.view.latency_view == view;
    ImGui::PushStyleColor(ImGuiCol_Text, chosen ? palette().text : palette().dim);
    if (ImGui::SmallButton(words)) context.view.latency_view = view;
    ImGui::PopStyleColor();
    if (chosen) {
      const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
      ImGui::GetWindowDrawList()->AddLine({low.x + em(0.4f), high.y}, {high.x - em(0.4f), high.y}, palette().accent,
                                          std::max(1.5f, em(0.1f)));
    }
    tooltip(view == LatencyView::runs   ? "Every run, in order."
            : view == LatencyView::knob ? "Every value of one knob, with the others as they are."
                                        : "Runs under what the device can do at most: arithmetic and bandwidth.");
    ImGui::SameLine(0, gap_of_views());
  }
  ImGui::NewLine();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  ImGui::PopFont();
}

// True if the change does not fit beside the time.
bool LatencyPanel::narrow() { return ImGui::GetWindowWidth() < em(20); }

void LatencyPanel::draw_change(const Context& context) {
  const auto& delta = context.baseline.delta;
  if (!delta) return;
  ImGui::SameLine(0, em(1));
  const float room = ImGui::GetContentRegionAvail().x - em(6);  // room for the badge
  if (room < em(4)) return;
  const ImVec2 at = ImGui::GetCursorPos();
  ImGui::BeginGroup();
  ImGui::PushFont(nullptr, kSmallSize);
  clipped(delta->against, room, palette().dim);
  ImGui::PopFont();
  ImGui::SetCursorPos({at.x, at.y + em(0.95f)});
  ImGui::PushFont(fonts().strong, 0);
  clipped(delta->text, room, standing_colour(delta->standing));
  ImGui::PopFont();
  ImGui::EndGroup();
  tooltip(delta->detail);
}

// A line below the time that keeps its space even without a change, so that the plot does not move.
void LatencyPanel::draw_change_line(const Context& context) {
  const auto& delta = context.baseline.delta;
  ImGui::PushFont(fonts().strong, kSmallSize);
  ImGui::PushStyleColor(ImGuiCol_Text, delta ? standing_colour(delta->standing) : palette().dim);
  text(delta ? delta->text : "");
  ImGui::PopStyleColor();
  ImGui::PopFont();
  if (!delta) return;
  tooltip(delta->detail);
  ImGui::SameLine(0, em(0.5f));
  ImGui::PushFont(nullptr, kSmallSize);
  clipped(delta->against, ImGui::GetContentRegionAvail().x, palette().dim);
  ImGui::PopFont();
}

std::unique_ptr<Panel> make_latency_panel(const std::filesystem::path&) { return std::make_unique<LatencyPanel>(); }

}  // namespace attnscope::ui
