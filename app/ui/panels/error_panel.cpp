#include "ui/panels/error_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "charts/finding_ghosts.h"
#include "charts/format.h"
#include "charts/tables.h"
#include "charts/watch_rows.h"
#include "core/joined.h"
#include "ui/export_menu.h"
#include "ui/icons.h"
#include "ui/panels/panels.h"
#include "ui/widgets/ghost.h"
#include "ui/widgets/headline.h"
#include "ui/widgets/more_line.h"
#include "ui/widgets/part.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

constexpr const char* kHowToRead =
    "A texel that covers several rows shows the largest; NaN is checked, Inf striped. The wheel zooms the map, a drag "
    "moves it, a double click shows all of it.";

constexpr float kForMap = 9;  // ems: the least height of the map with its controls and colours

constexpr double kLowestShown = 1e-6;   // smaller errors share the ramp's first colour; half an fp16 step at 0.002
constexpr double kHighestShown = 1e-2;  // the ramp's end, unless an error is larger

MapLook look_for(MapKind kind, double low, double high) {
  MapLook look;
  if (kind == MapKind::error) {
    look.low = f32(kLowestShown);
    look.high = f32(high > kHighestShown ? std::pow(10.0, std::ceil(std::log10(high))) : kHighestShown);
    return look;
  }
  look.ramp = Ramp::diverging;
  look.logarithmic = false;
  const double reach = std::max({std::fabs(low), std::fabs(high), 1e-6});
  look.low = f32(-reach);
  look.high = f32(reach);
  return look;
}

}  // namespace

void ErrorPanel::draw(Context& context) {
  progress_line(context);
  failure_view(context, Readout::error);
  map_complete_ = false;
  const Verdict* verdict = context.shown.verdict();
  if (verdict == nullptr) {
    empty_state(ICON_FLASK,
                context.shown.failure() != nullptr ? "Not checked: there was no output"
                : context.shown.running()          ? "Not checked yet"
                                                   : "Nothing to check yet",
                "The output is compared with an fp64 reference, element by element.");
    return;
  }
  draw_verdict(context, *verdict);
  draw_watch(context);
  ImGui::Dummy({0, em(0.1f)});
  if (verdict->rows_checked > 0) draw_figures(context, *verdict);  // otherwise there is no error to show
  const Problem& problem = context.shown.observation->experiment.problem;
  if (!problem.is_attention()) return wrapped("Only attention kernels have a map of their output.", palette().dim);
  draw_map_controls(context, problem);
  draw_map(context, problem);
}

void ErrorPanel::draw_verdict(Context& context, const Verdict& verdict) {
  const Headline headline = *headline_of(*context.shown.observation);
  const HeadlineLook look = look_of(headline);
  {
    const PartScope scope(context, session::Part::verdict);
    big_figure(fmt::format("{} {}", look.icon, to_string(headline)), "", look.colour);
    kind_badge_at_right(context.glossary, FigureKind::counted);
  }
  const Problem& problem = context.shown.observation->experiment.problem;
  const Observation* const ghost = context.baseline.ghost;
  const std::optional<Headline> of_a = ghost != nullptr ? headline_of(*ghost) : std::nullopt;
  const std::string a = of_a ? fmt::format("; A {}", to_string(*of_a)) : "";
  part_note(context, session::Part::verdict,
            problem.is_attention()
                ? fmt::format("{} {} against fp64{}", short_text(problem), to_string(problem.dtype), a)
                : short_text(problem) +
                      (verdict.rows_checked == 0 ? ""
                       : verdict.against         ? " against the kernel " + *verdict.against
                                                 : " against its reference") +
                      a);
  ghost_note(context);
  const PartScope scope(context, session::Part::verdict);
  if (is_of_watch(headline)) wrapped("The output itself " + words_of_output(verdict) + ".", palette().dim, kSmallSize);
  if (!verdict.reason.empty())
    wrapped(verdict.reason, verdict.state == VerdictState::wrong ? palette().bad : palette().dim, kSmallSize);
}

void ErrorPanel::draw_figures(Context& context, const Verdict& verdict) {
  const PartScope scope(context, session::Part::verdict);
  ImGui::PushFont(nullptr, kSmallSize);
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {em(0.2f), em(0.06f)});
  const auto value_of = [](const charts::FigureRow& row) { return (row.bad ? ICON_CLOSE " " : "") + row.value; };
  const Verdict* const a = ghost_of(context, &Observation::verdict);
  const bool against = a != nullptr && a->rows_checked > 0;
  const std::vector<charts::FigureRow> rows = charts::verdict_rows(verdict, against ? a : nullptr);
  // Figures are never cut. A narrow panel has the limits below the table, so that the names stay whole.
  float value_width = 0, a_width = 0, name_width = 0, limit_width = 0;
  for (const charts::FigureRow& row : rows) {
    name_width = std::max(name_width, width_of(row.name));
    limit_width = std::max(limit_width, width_of(row.note));
    a_width = std::max(a_width, width_of(row.baseline));
    ImGui::PushFont(fonts().strong, 0);
    value_width = std::max(value_width, width_of(value_of(row)));
    ImGui::PopFont();
  }
  const float padding = 2 * ImGui::GetStyle().CellPadding.x;
  const float room = ImGui::GetContentRegionAvail().x - value_width - (against ? a_width + padding : 0);
  const bool limits = name_width + limit_width + 2 * padding <= room;
  if (ImGui::BeginTable("##figures", 2 + (against ? 1 : 0) + (limits ? 1 : 0),
                        ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoPadOuterX)) {
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch, 1.3f);
    ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthFixed, value_width);
    if (against) ImGui::TableSetupColumn("A", ImGuiTableColumnFlags_WidthFixed, a_width);
    if (limits) ImGui::TableSetupColumn("limit", ImGuiTableColumnFlags_WidthStretch, 1.05f);
    if (against) {
      ImGui::TableNextRow();
      for (const char* name : {"", "B", "A"}) {
        ImGui::TableNextColumn();
        ImGui::PushStyleColor(ImGuiCol_Text, palette().faint);
        text(name);
        ImGui::PopStyleColor();
      }
      ImGui::TableNextRow();
    }
    for (const charts::FigureRow& row : rows) {
      ImGui::TableNextColumn();
      term(context.glossary, row.term, shortened(row.name, ImGui::GetContentRegionAvail().x));
      ImGui::TableNextColumn();
      ImGui::PushFont(fonts().strong, 0);
      clipped(value_of(row), ImGui::GetContentRegionAvail().x, row.bad ? palette().bad : palette().text);
      ImGui::PopFont();
      if (!limits) tooltip(row.note);
      if (against) {
        ImGui::TableNextColumn();
        clipped(row.baseline, ImGui::GetContentRegionAvail().x,
                row.baseline == row.value ? palette().faint : palette().dim);
      }
      if (!limits) continue;
      ImGui::TableNextColumn();
      clipped(row.note, ImGui::GetContentRegionAvail().x, palette().faint);
    }
    ImGui::EndTable();
  }
  ImGui::PopStyleVar();
  ImGui::PopFont();
  if (!limits) draw_limits(charts::limits_text(verdict, against ? a : nullptr));
}

// Below the figures, unless the map needs the room; then each limit is its figure's tooltip.
void ErrorPanel::draw_limits(const std::string& words) {
  ImGui::PushFont(nullptr, kSmallSize);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float height = ImGui::CalcTextSize(words.c_str(), nullptr, false, room.x).y;
  ImGui::PopFont();
  if (room.y - height >= em(kForMap)) wrapped(words, palette().faint, kSmallSize);
}

// Below the verdict: whether a correct verdict can be trusted. One line if the watch found nothing, otherwise each
// finding, with its full text on hover. A click shows its source line.
void ErrorPanel::draw_watch(Context& context) {
  using session::WatchState;
  const Observation& shown = *context.shown.observation;
  const session::Focus& focus = context.snapshot.focus;
  const WatchState state = context.shown.from_history() ? WatchState::none : focus.watch;
  ImGui::PushFont(nullptr, kSmallSize);
  const auto label = [&](const char* icon, const std::string& words, ImU32 colour) {
    ImGui::PushStyleColor(ImGuiCol_Text, colour);
    text(icon);
    ImGui::PopStyleColor();
    ImGui::SameLine(0, em(0.4f));
    clipped(words, ImGui::GetContentRegionAvail().x, colour);
  };
  if (state == WatchState::waiting || state == WatchState::running) {
    label(ICON_SEARCH,
          focus.watch_progress > 0 ? fmt::format("Watching for races, {:.0f} %", 100 * focus.watch_progress)
                                   : std::string("Watching for races"),
          palette().dim);
  } else if (shown.watch) {
    draw_findings(context, *shown.watch);
  } else if (state == WatchState::failed) {
    label(ICON_WARNING, "Not watched", palette().dim);
    if (focus.watch_failure) tooltip(focus.watch_failure->message + " " + focus.watch_failure->hint);
  } else {
    label(ICON_SEARCH, "Not watched for races", palette().faint);
    tooltip("Run > Watch for races observes the config while the emulator executes it.");
  }
  ImGui::PopFont();
}

void ErrorPanel::draw_findings(Context& context, const WatchReport& watch) {
  const auto rows = charts::watch_rows(watch);
  const std::string share = "Watched: " + charts::watch_share_text(watch) + ".";
  if (rows.empty()) {
    clipped(ICON_CHECK "  No race, no never-written read", ImGui::GetContentRegionAvail().x, palette().good);
    tooltip(share + " The output was the same each time.");
    return draw_gone(context);
  }
  constexpr size_t kFewRows = 3;
  const size_t count = all_findings_ ? rows.size() : std::min(rows.size(), kFewRows);
  const Observation* const ghost = context.baseline.ghost;
  const Observation* const a = ghost != nullptr && ghost->watch ? ghost : nullptr;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ImGui::GetStyle().ItemSpacing.x, em(0.12f)});
  for (size_t i = 0; i < count; ++i) {
    const charts::WatchRow& row = rows[i];
    ImGui::PushID(static_cast<int>(i));
    ImGui::PushStyleColor(ImGuiCol_Text, row.error ? palette().bad : palette().warn);
    const bool since_a = a != nullptr && !charts::has_like(*a, *row.finding, *context.shown.observation);
    const float left = width_of(ICON_WARNING) + em(0.5f), top = ImGui::GetCursorPosY();
    const float room = ImGui::GetContentRegionAvail().x - left;
    const std::string words = row.headline + (since_a ? " (new since A)" : "");
    const float height = ImGui::CalcTextSize(words.c_str(), nullptr, false, room).y;
    if (ImGui::Selectable("##finding", false, 0, {0, height}) && row.line > 0) context.show_line(row.line);
    tooltip(row.sentence + "\n\n" + share +
            (since_a        ? " A does not have it."
             : a != nullptr ? " A has it too."
                            : "") +
            (row.line > 0 ? " Click to see the line." : ""));
    ImGui::SetCursorPosY(top);
    text(ICON_WARNING);
    ImGui::SameLine(0, em(0.5f));
    ImGui::PushTextWrapPos(0);
    text(words);
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
    ImGui::PopID();
  }
  if (rows.size() > kFewRows) more_line("more findings", rows.size() - kFewRows, all_findings_);
  ImGui::PopStyleVar();
  draw_gone(context);
}

// What the watch found of A and not of B, as one line.
void ErrorPanel::draw_gone(const Context& context) {
  const Observation* a = context.baseline.ghost;
  if (a == nullptr || !a->watch) return;
  std::vector<std::string> gone;
  for (const charts::WatchRow& row : charts::watch_rows(*a->watch))
    if (!charts::has_like(*context.shown.observation, *row.finding, *a)) gone.push_back(row.headline);
  if (gone.empty()) return;
  clipped(gone.size() == 1 ? "gone since A: " + gone.front()
                           : fmt::format("gone since A: {} findings, {} \u2026", gone.size(), gone.front()),
          ImGui::GetContentRegionAvail().x, palette().dim);
  tooltip("A had, and B does not:\n" + joined(gone, std::identity(), "\n"));
}

void ErrorPanel::draw_map_controls(Context& context, const Problem& problem) {
  ImGui::Dummy({0, em(0.1f)});
  ImGui::PushFont(nullptr, kSmallSize);
  static constexpr const char* kKinds[] = {"|error|", "output", "reference"};
  ImGui::SetNextItemWidth(em(6.2f));
  int kind = static_cast<int>(context.view.map);
  if (ImGui::Combo("##map", &kind, kKinds, 3)) context.view.map = static_cast<MapKind>(kind);
  explain(context.glossary, "error map");
  ImGui::SameLine(0, em(0.5f));
  head_controls(context, problem);
  ImGui::PopFont();
}

// At the panel's resolution, rounded to steps, so that resizing the panel does not send a request for every pixel.
ViewRequest ErrorPanel::wanted_request(const Context& context, const Problem& problem, float height) const {
  const float density = ImGui::GetIO().DisplayFramebufferScale.y;
  const int pixels = std::max(32, static_cast<int>(height * density) / 32 * 32) * map_.detail();
  ViewRequest request;
  request.experiment_hash = experiment_of(context, session::Part::verdict);
  request.map = context.view.map;
  request.batch = context.view.batch;
  request.head = context.view.head;
  request.width = static_cast<int>(problem.head_dim);
  request.height = static_cast<int>(std::min<int64_t>(problem.seq_q, pixels));
  return request;
}

void ErrorPanel::draw_map(Context& context, const Problem& problem) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const ImVec2 size{std::floor(room.x), std::floor(std::max(room.y - em(2.1f), em(4)))};
  const ViewRequest request = wanted_request(context, problem, size.y);
  map_.follow(context, request, context.shown.state(session::Part::verdict) == session::PartState::partial);
  const MapLook look = look_for(context.view.map, map_.low(), map_.high());
  const bool current = map_.is_of(request) && context.shown.from(session::Part::verdict).empty();
  map_complete_ = (current && map_.whole()) || map_.refusal() != nullptr;
  if (!map_.draw(look, size, !current,
                 context.shown.running() ? "The map grows with the first rows." : "Asking for the map"))
    return;
  if (const auto place = map_.hovered(problem.seq_q, problem.head_dim)) point_at(*place);
  export_menu(context, {"map", [&] {
                          return map_.figure(look, problem.seq_q, problem.head_dim,
                                             fmt::format("{}, batch {}, head {}", to_string(context.view.map),
                                                         context.view.batch, context.view.head));
                        }});
  const double tolerance = context.shown.verdict()->atol;
  map_.colour_bar(look, look.logarithmic ? tolerance : 0,
                  look.logarithmic
                      ? fmt::format("|error| against the fp64 reference, logarithmic. The triangle is atol, {}. {}",
                                    charts::error_text(tolerance), kHowToRead)
                      : std::string("The value itself. ") + kHowToRead);
}

void ErrorPanel::point_at(const MapPlace& place) const {
  const std::string rows = place.row_end - place.row > 1
                               ? fmt::format("rows {}\u2013{} (largest)", place.row, place.row_end - 1)
                               : fmt::format("row {}", place.row);
  const std::string value = place.ready ? charts::error_text(static_cast<double>(place.value)) : "not computed yet";
  point_out(place, fmt::format("{}, column {}\nhead {}: {}", rows, place.column, map_.tile()->request.head, value));
}

std::unique_ptr<Panel> make_error_panel(const std::filesystem::path& shaders) {
  return std::make_unique<ErrorPanel>(shaders);
}

}  // namespace attnscope::ui
