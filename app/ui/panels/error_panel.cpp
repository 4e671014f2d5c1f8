#include "ui/panels/error_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "charts/format.h"
#include "charts/tables.h"
#include "ui/icons.h"
#include "ui/widgets/part.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

constexpr double kLowestShown = 1e-6;   // errors below it share the ramp's first colour: half an fp16 step at 0.002
constexpr double kHighestShown = 1e-2;  // the ramp's end, unless an error is larger
constexpr double kAskAgain = 0.15;      // seconds between requests while the map grows

struct VerdictLook {
  const char* icon;
  ImU32 colour;
};
VerdictLook look_of(const std::string& state) {
  if (state == "correct") return {ICON_CHECK_CIRCLE, palette().good};
  if (state == "wrong") return {ICON_TIMES_CIRCLE, palette().bad};
  return {ICON_QUESTION, palette().dim};
}

bool complete(const Tile& tile) {
  return std::all_of(tile.ready_rows.begin(), tile.ready_rows.end(), [](uint8_t ready) { return ready != 0; });
}

MapLook look_for(MapKind kind, double low, double high) {
  MapLook look;
  look.nan = palette().nan;
  look.inf = palette().inf;
  look.not_yet = palette().not_yet;
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
                "The output is held against an fp64 reference, element by element.");
    return;
  }
  draw_verdict(context, *verdict);
  draw_figures(context, *verdict);
  const Problem& problem = context.shown.observation->experiment.problem;
  draw_map_controls(context, problem);
  draw_map(context, problem);
}

void ErrorPanel::draw_verdict(Context& context, const Verdict& verdict) {
  const VerdictLook look = look_of(verdict.state);
  {
    const PartScope scope(context, session::Part::verdict);
    big_figure(std::string(look.icon) + " " + verdict.state, "", look.colour);
    kind_badge_at_right(context.glossary, FigureKind::counted);
  }
  const Problem& problem = context.shown.observation->experiment.problem;
  part_note(context, session::Part::verdict,
            fmt::format("{} {} against fp64", short_text(problem), to_string(problem.dtype)));
  const PartScope scope(context, session::Part::verdict);
  if (!verdict.reason.empty())
    wrapped(verdict.reason, verdict.state == "wrong" ? palette().bad : palette().dim, kSmallSize);
  if (verdict.first_bad) {
    const BadElement& bad = *verdict.first_bad;
    wrapped(fmt::format("first bad: batch {} head {} row {} column {}: {} instead of {}", bad.batch, bad.head, bad.row,
                        bad.column, charts::error_text(bad.got), charts::error_text(bad.expected)),
            palette().dim, kSmallSize);
  }
}

void ErrorPanel::draw_figures(Context& context, const Verdict& verdict) {
  const PartScope scope(context, session::Part::verdict);
  ImGui::PushFont(nullptr, kSmallSize);
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {em(0.2f), em(0.06f)});
  if (ImGui::BeginTable("##figures", 3, ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoPadOuterX)) {
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch, 1.3f);
    ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch, 0.85f);
    ImGui::TableSetupColumn("limit", ImGuiTableColumnFlags_WidthStretch, 1.05f);
    for (const charts::FigureRow& row : charts::verdict_rows(verdict)) {
      ImGui::TableNextColumn();
      term(context.glossary, row.term, shortened(row.name, ImGui::GetContentRegionAvail().x));
      ImGui::TableNextColumn();
      ImGui::PushFont(fonts().strong, 0);
      clipped((row.bad ? ICON_CLOSE " " : "") + row.value, ImGui::GetContentRegionAvail().x,
              row.bad ? palette().bad : palette().text);
      ImGui::PopFont();
      ImGui::TableNextColumn();
      clipped(row.note, ImGui::GetContentRegionAvail().x, palette().faint);
    }
    ImGui::EndTable();
  }
  ImGui::PopStyleVar();
  ImGui::PopFont();
}

void ErrorPanel::draw_map_controls(Context& context, const Problem& problem) {
  ViewState& view = context.view;
  view.head = std::clamp<int64_t>(view.head, 0, std::max<int64_t>(problem.heads - 1, 0));
  view.batch = std::clamp<int64_t>(view.batch, 0, std::max<int64_t>(problem.batch - 1, 0));
  ImGui::Dummy({0, em(0.1f)});
  ImGui::PushFont(nullptr, kSmallSize);
  static constexpr const char* kKinds[] = {"|error|", "output", "reference"};
  ImGui::SetNextItemWidth(em(6.2f));
  int kind = static_cast<int>(view.map);
  if (ImGui::Combo("##map", &kind, kKinds, 3)) view.map = static_cast<MapKind>(kind);
  explain(context.glossary, "error map");
  auto stepper = [](const char* name, int64_t& value, int64_t count) {
    ImGui::SameLine(0, em(0.5f));
    if (ImGui::GetContentRegionAvail().x < em(9)) ImGui::NewLine();
    ImGui::PushID(name);
    ImGui::BeginDisabled(value <= 0);
    if (ImGui::ArrowButton("less", ImGuiDir_Left)) --value;
    ImGui::EndDisabled();
    ImGui::SameLine(0, em(0.25f));
    ImGui::AlignTextToFramePadding();
    text(fmt::format("{} {} of {}", name, value, count));
    tooltip(fmt::format("{} {} of {}, counted from 0. The wheel steps too.", name, value, count));
    if (ImGui::IsItemHovered() && ImGui::GetIO().MouseWheel != 0)
      value = std::clamp<int64_t>(value - (ImGui::GetIO().MouseWheel > 0 ? 1 : -1), 0, count - 1);
    ImGui::SameLine(0, em(0.25f));
    ImGui::BeginDisabled(value >= count - 1);
    if (ImGui::ArrowButton("more", ImGuiDir_Right)) ++value;
    ImGui::EndDisabled();
    ImGui::PopID();
  };
  stepper("head", view.head, problem.heads);
  if (problem.batch > 1) stepper("batch", view.batch, problem.batch);
  ImGui::PopFont();
}

// At the panel's resolution, in steps so that a panel that is being resized does not ask anew for each pixel.
ViewRequest ErrorPanel::wanted_request(const Context& context, const Problem& problem, float height) const {
  const float density = ImGui::GetIO().DisplayFramebufferScale.y;
  const int pixels = std::max(32, static_cast<int>(height * density) / 32 * 32);
  ViewRequest request;
  request.experiment_hash = context.shown.from_history()
                                ? context.shown.observation->hash
                                : context.snapshot.focus.part_hash[static_cast<int>(session::Part::verdict)];
  if (request.experiment_hash.empty()) request.experiment_hash = context.shown.observation->hash;
  request.map = context.view.map;
  request.batch = context.view.batch;
  request.head = context.view.head;
  request.width = static_cast<int>(problem.head_dim);
  request.height = static_cast<int>(std::min<int64_t>(problem.seq_q, pixels));
  return request;
}

void ErrorPanel::ask(Context& context, const ViewRequest& request) {
  const bool growing = context.shown.state(session::Part::verdict) == session::PartState::partial;
  const std::string key = session::tile_key(request) + (growing ? " growing" : " final");
  const double now = ImGui::GetTime();
  if (key == asked_ && (!growing || now - asked_at_ < kAskAgain)) return;
  asked_ = key;
  asked_at_ = now;
  context.session.request_view(request);
}

void ErrorPanel::draw_map(Context& context, const Problem& problem) {
  const float bar = em(2.1f);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const ImVec2 size{std::floor(room.x), std::floor(std::max(room.y - bar, em(4)))};
  const ViewRequest request = wanted_request(context, problem, size.y);
  ask(context, request);
  const std::string key = session::tile_key(request);
  const auto found = context.snapshot.tiles.find(key);
  if (found != context.snapshot.tiles.end() && found->second != nullptr && found->second != tile_) {
    tile_ = found->second;
    tile_of_ = key;
    ++tile_version_;
    tile_low_ = tile_high_ = 0;
    for (const float value : tile_->values)
      if (std::isfinite(value)) {
        tile_low_ = std::min(tile_low_, static_cast<double>(value));
        tile_high_ = std::max(tile_high_, static_cast<double>(value));
      }
  }
  if (!painter_ && !no_painter_) {
    Result<std::unique_ptr<MapPainter>> made = MapPainter::create(shaders_);
    if (made)
      painter_ = std::move(*made);
    else
      no_painter_ = made.error();
  }
  if (no_painter_) return failure_box(*no_painter_, "##no painter");
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (!tile_) {
    ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + size.x, at.y + size.y}, palette().raised, em(0.2f));
    const std::string words = context.shown.running() ? "The map grows with the first rows." : "Asking for the map";
    ImGui::GetWindowDrawList()->AddText({at.x + (size.x - width_of(words)) / 2, at.y + size.y / 2}, palette().faint,
                                        words.c_str());
    ImGui::Dummy(size);
    return;
  }
  const MapLook look = look_for(context.view.map, tile_low_, tile_high_);
  const ImVec2 density = ImGui::GetIO().DisplayFramebufferScale;
  const uint32_t texture = painter_->paint(*tile_, tile_version_, look, static_cast<int>(size.x * density.x),
                                           static_cast<int>(size.y * density.y));
  const bool current = tile_of_ == key && context.shown.from(session::Part::verdict).empty();
  map_complete_ = current && complete(*tile_);
  ImGui::PushStyleVar(ImGuiStyleVar_Alpha, current ? 1.0f : 0.45f);
  ImGui::Image(static_cast<ImTextureID>(texture), size);
  ImGui::PopStyleVar();
  if (ImGui::IsItemHovered()) hover_map(*tile_, problem, at, size);
  draw_colour_bar(look, context.shown.verdict()->atol);
}

void ErrorPanel::hover_map(const Tile& tile, const Problem& problem, ImVec2 low, ImVec2 size) const {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const int x =
      std::clamp(static_cast<int>((mouse.x - low.x) / size.x * static_cast<float>(tile.width)), 0, tile.width - 1);
  const int y =
      std::clamp(static_cast<int>((mouse.y - low.y) / size.y * static_cast<float>(tile.height)), 0, tile.height - 1);
  const int64_t rows = problem.seq_q, columns = problem.head_dim;
  const int64_t row = y * rows / tile.height, row_end = std::max((y + 1) * rows / tile.height, row + 1);
  const int64_t column = x * columns / tile.width;
  const size_t at = static_cast<size_t>(y) * static_cast<size_t>(tile.width) + static_cast<size_t>(x);
  if (at >= tile.values.size()) return;
  const bool ready = static_cast<size_t>(y) >= tile.ready_rows.size() || tile.ready_rows[static_cast<size_t>(y)] != 0;
  const std::string place =
      row_end - row > 1 ? fmt::format("rows {}\u2013{} (largest)", row, row_end - 1) : fmt::format("row {}", row);
  ImGui::SetTooltip("%s",
                    fmt::format("{}, column {}\nhead {}: {}", place, column, tile.request.head,
                                ready ? charts::error_text(static_cast<double>(tile.values[at])) : "not computed yet")
                        .c_str());
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float top = low.y + size.y * static_cast<float>(y) / static_cast<float>(tile.height);
  const float left = low.x + size.x * static_cast<float>(x) / static_cast<float>(tile.width);
  list->AddRect({left - 1, top - 1},
                {left + std::max(size.x / static_cast<float>(tile.width), 3.0f) + 1,
                 top + std::max(size.y / static_cast<float>(tile.height), 3.0f) + 1},
                palette().text);
}

void ErrorPanel::draw_colour_bar(const MapLook& look, double tolerance) {
  ImGui::PushFont(nullptr, kSmallSize);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = em(0.55f);
  list->AddImage(static_cast<ImTextureID>(painter_->bar_texture(look.ramp)), at, {at.x + width, at.y + height});
  const float below = at.y + height + em(0.1f);
  const auto place = [&](double value) {
    const double share =
        look.logarithmic
            ? std::log(value / static_cast<double>(look.low)) / std::log(static_cast<double>(look.high / look.low))
            : (value - static_cast<double>(look.low)) / static_cast<double>(look.high - look.low);
    return at.x + width * f32(std::clamp(share, 0.0, 1.0));
  };
  const auto tick = [&](double value, const std::string& words, ImU32 colour) {
    const float x = place(value), wide = width_of(words);
    list->AddLine({x, at.y + height * 0.5f}, {x, at.y + height + em(0.15f)}, colour, 1.0f);
    list->AddText({std::clamp(x - wide / 2, at.x, at.x + width - wide), below}, colour, words.c_str());
  };
  if (look.logarithmic) {
    const int low = static_cast<int>(std::lround(std::log10(static_cast<double>(look.low))));
    const int high = static_cast<int>(std::lround(std::log10(static_cast<double>(look.high))));
    const int step = std::max(1, (high - low + 4) / 5);
    for (int power = low; power <= high; power += step)
      tick(std::pow(10.0, power), fmt::format("1e{}", power), palette().dim);
    if (tolerance > 0) {
      const float x = place(tolerance);
      list->AddLine({x, at.y - em(0.15f)}, {x, at.y + height}, palette().text, std::max(2.0f, em(0.12f)));
      list->AddTriangleFilled({x - em(0.3f), at.y - em(0.35f)}, {x + em(0.3f), at.y - em(0.35f)}, {x, at.y},
                              palette().text);
    }
  } else {
    for (const double share : {0.0, 0.5, 1.0}) {
      const double value = static_cast<double>(look.low) + share * static_cast<double>(look.high - look.low);
      tick(value, charts::error_text(value), palette().dim);
    }
  }
  ImGui::Dummy({width, em(1.6f)});
  tooltip(look.logarithmic
              ? fmt::format("|error| against the fp64 reference, logarithmic. The triangle is atol, {}. A texel that "
                            "covers several rows shows the largest; NaN is checked, Inf striped.",
                            charts::error_text(tolerance))
              : "The value itself. A texel that covers several rows shows the largest; NaN is checked, Inf striped.");
  ImGui::PopFont();
}

}  // namespace attnscope::ui
