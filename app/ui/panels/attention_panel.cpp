#include "ui/panels/attention_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "charts/format.h"
#include "ui/export_menu.h"
#include "ui/icons.h"
#include "ui/panels/panels.h"
#include "ui/widgets/ghost.h"
#include "ui/widgets/part.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

constexpr float kLeastTilePixels = 5;  // tiles smaller than this are not drawn
// Lines over the map, whose ramp is dark for most weights in every theme.
constexpr ImU32 kOverMap = IM_COL32_WHITE;
constexpr float kOfB = 0.28f, kOfA = 0.5f;  // their alphas; A's are dashed

// The scale ranges from well under an even share of the keys to the largest weight.
MapLook look_for(const Problem& problem, double highest) {
  MapLook look;
  const double even = 1.0 / static_cast<double>(std::max<int64_t>(problem.seq_k, 2));
  look.low = f32(std::pow(10.0, std::floor(std::log10(even)) - 1));
  look.high = f32(std::pow(10.0, std::ceil(std::log10(std::clamp(highest, even, 1.0)))));
  return look;
}

std::string span_text(const char* one, const char* many, int64_t begin, int64_t end) {
  return end - begin > 1 ? fmt::format("{} {}\u2013{}", many, begin, end - 1) : fmt::format("{} {}", one, begin);
}

}  // namespace

void AttentionPanel::draw(Context& context) {
  map_complete_ = false;
  const auto& observation = context.shown.observation;
  // The worker keeps its finished runs, and a matrix belongs to one of them.
  if (!observation || context.shown.verdict() == nullptr) {
    empty_state(ICON_TABLE, context.shown.running() ? "The matrix comes with the finished run" : "No run yet",
                "softmax(QK^T) of one head, as the fp64 reference computes it.");
    return;
  }
  const Problem& problem = observation->experiment.problem;
  if (!problem.is_attention()) {
    empty_state(ICON_TABLE, "Not for this problem", "Only attention has this matrix.");
    return;
  }
  const Observation* const a = context.baseline.ghost;
  Tiles tiles{charts::attention_tiles_of(observation->experiment), std::nullopt};
  if (a != nullptr) tiles.a = charts::attention_tiles_of(a->experiment);
  draw_controls(context, problem, tiles);
  draw_map(context, problem, tiles);
}

void AttentionPanel::draw_controls(Context& context, const Problem& problem, const Tiles& tiles) {
  ImGui::PushFont(nullptr, kSmallSize);
  wrapped(
      "softmax(scale \u00b7 QK^T) in fp64: query rows down, keys across. The kernel walks it tile by tile "
      "and never stores it.",
      palette().dim);
  head_controls(context, problem);
  if (tiles.b.known() || (tiles.a && tiles.a->known())) {
    ImGui::SameLine(0, em(0.8f));
    ImGui::Checkbox("tiles", &show_grid_);
    const std::string of_a = tiles.a && tiles.a->known() ? " A's, dashed: " + charts::tiles_text(*tiles.a) + "." : "";
    tooltip("The kernel's tiles: " + charts::tiles_text(tiles.b) + "." + of_a);
    const std::string words = charts::tiles_beside(tiles.a ? &*tiles.a : nullptr, tiles.b);
    ImGui::SameLine(0, em(0.5f));
    if (width_of(words) > ImGui::GetContentRegionAvail().x) ImGui::NewLine();  // a narrow panel
    clipped(words, ImGui::GetContentRegionAvail().x, palette().dim);
  }
  ImGui::PopFont();
  ghost_note(context);
}

// At the panel's resolution, rounded to steps, so that resizing the panel does not send a request for every pixel.
ViewRequest AttentionPanel::wanted_request(const Context& context, const Problem& problem, ImVec2 size) const {
  const ImVec2 density = ImGui::GetIO().DisplayFramebufferScale;
  const auto texels = [](float pixels, int64_t elements) {
    return static_cast<int>(std::min<int64_t>(elements, std::clamp(static_cast<int>(pixels) / 32 * 32, 32, 2048)));
  };
  ViewRequest request;
  request.experiment_hash = experiment_of(context, session::Part::verdict);
  request.map = MapKind::attention;
  request.batch = context.view.batch;
  request.head = context.view.head;
  const auto finer = static_cast<float>(map_.detail());
  request.width = texels(size.x * density.x * finer, problem.seq_k);
  request.height = texels(size.y * density.y * finer, problem.seq_q);
  return request;
}

void AttentionPanel::draw_map(Context& context, const Problem& problem, const Tiles& tiles) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float widest = std::floor(room.x), highest = std::floor(std::max(room.y - em(2.1f), em(4)));
  // In the matrix's proportions, if there is room.
  const float wanted = widest * f32(static_cast<double>(problem.seq_q) / static_cast<double>(problem.seq_k));
  const ImVec2 size{widest, std::clamp(wanted, std::min(em(8), highest), highest)};
  const ViewRequest request = wanted_request(context, problem, size);
  if (context.shown.state(session::Part::verdict) == session::PartState::fresh) map_.follow(context, request, false);
  const bool current = map_.is_of(request) && context.shown.from(session::Part::verdict).empty();
  map_complete_ = current || map_.refusal() != nullptr;
  const MapLook look = look_for(problem, map_.high());
  if (!map_.draw(look, size, !current, "Asking for the matrix")) return;
  const auto place = map_.hovered(problem.seq_q, problem.seq_k);
  export_menu(context, {"attention", [&] {
                          return map_.figure(look, problem.seq_q, problem.seq_k,
                                             fmt::format("softmax(scale \u00b7 QK^T), batch {}, head {}",
                                                         context.view.batch, context.view.head));
                        }});
  ImGui::GetWindowDrawList()->PushClipRect(map_.place(), {map_.place().x + size.x, map_.place().y + size.y}, true);
  draw_mask(problem);
  if (show_grid_) draw_grid(problem, tiles.b, false);
  if (show_grid_ && tiles.a && *tiles.a != tiles.b) draw_grid(problem, *tiles.a, true);
  ImGui::GetWindowDrawList()->PopClipRect();
  if (place) point_at(*place, problem, tiles);
  map_.colour_bar(
      look, 1.0 / static_cast<double>(problem.seq_k),
      fmt::format("The weight of a key in its row, logarithmic. The triangle is an even share, 1/{}. A texel "
                  "that covers several elements shows the largest. The wheel zooms the map, a drag moves it, a "
                  "double click shows all of it.",
                  problem.seq_k));
}

void AttentionPanel::draw_grid(const Problem& problem, const charts::AttentionTiles& tiles, bool of_a) const {
  const ImVec2 at = map_.place(), size = map_.size();
  const double rows = static_cast<double>(problem.seq_q), keys = static_cast<double>(problem.seq_k);
  const float row = map_.y_of(1 / rows) - map_.y_of(0), key = map_.x_of(1 / keys) - map_.x_of(0);
  const auto line = [&](ImVec2 from, ImVec2 to) {
    const bool outside = from.y < at.y || from.y > at.y + size.y || from.x < at.x || from.x > at.x + size.x;
    if (outside) return;
    if (of_a) return ghost_line(from, to, with_alpha(kOverMap, kOfA));
    ImGui::GetWindowDrawList()->AddLine(from, to, with_alpha(kOverMap, kOfB), 1.0f);
  };
  if (tiles.rows > 0 && static_cast<float>(tiles.rows) * row >= kLeastTilePixels)
    for (int64_t edge = tiles.rows; edge < problem.seq_q; edge += tiles.rows) {
      const float y = std::round(map_.y_of(static_cast<double>(edge) / rows));
      line({at.x, y}, {at.x + size.x, y});
    }
  if (tiles.keys > 0 && static_cast<float>(tiles.keys) * key >= kLeastTilePixels)
    for (int64_t edge = tiles.keys; edge < problem.seq_k; edge += tiles.keys) {
      const float x = std::round(map_.x_of(static_cast<double>(edge) / keys));
      line({x, at.y}, {x, at.y + size.y});
    }
}

// Masked weights are covered, hatched and outlined, so that they differ from small weights without colour.
void AttentionPanel::draw_mask(const Problem& problem) const {
  if (problem.causal == Causal::none) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = map_.place(), size = map_.size();
  const auto x_of = [&](int64_t row) {
    return map_.x_of(static_cast<double>(visible_keys(problem, row)) / static_cast<double>(problem.seq_k));
  };
  const float right = at.x + size.x, step = std::max(6.0f, em(0.5f));
  const auto row_at = [&](float y) {
    const float share = map_.part().y + (y - at.y) / size.y * map_.part().height;
    const auto row = static_cast<int64_t>(share * static_cast<float>(problem.seq_q));
    return std::clamp<int64_t>(row, 0, problem.seq_q - 1);
  };
  for (float y = 0; y < size.y; y += 1) {
    const float edge = x_of(row_at(at.y + y + 0.5f));
    if (edge >= right) continue;
    list->AddRectFilled({edge, at.y + y}, {right, at.y + y + 1}, with_alpha(palette().window, 0.55f));
  }
  for (float y = 0; y < size.y; y += step) {
    const float edge = std::max(x_of(row_at(at.y + y + 0.5f)), at.x - step);
    for (float x = right - std::fmod(y, step * 2); x > edge; x -= step * 2)
      list->AddLine({x, at.y + y}, {std::max(x - step * 0.6f, edge), at.y + y}, with_alpha(palette().faint, 0.8f),
                    1.0f);
  }
  list->AddLine({x_of(0), map_.y_of(0)}, {x_of(problem.seq_q - 1), map_.y_of(1)}, palette().text,
                std::max(1.0f, em(0.08f)));
}

void AttentionPanel::point_at(const MapPlace& place, const Problem& problem, const Tiles& tiles) const {
  std::string words = span_text("row", "rows", place.row, place.row_end) + ", " +
                      span_text("key", "keys", place.column, place.column_end) + "\n";
  const bool one = place.row_end - place.row == 1 && place.column_end - place.column == 1;
  if (place.column >= visible_keys(problem, place.row_end - 1))
    words += "masked";
  else
    words += fmt::format("head {}: {}{}", map_.tile()->request.head,
                         charts::error_text(static_cast<double>(place.value)), one ? "" : " (largest)");
  const auto of = [&](const charts::AttentionTiles& whose) {
    return charts::tile_words(whose, problem, place.row, place.column);
  };
  if (const std::string own = of(tiles.b); !own.empty()) words += "\n" + own;
  if (const std::string theirs = tiles.a && *tiles.a != tiles.b ? of(*tiles.a) : ""; !theirs.empty())
    words += "\nA: " + theirs;
  point_out(place, words);
}

std::unique_ptr<Panel> make_attention_panel(const std::filesystem::path& shaders) {
  return std::make_unique<AttentionPanel>(shaders);
}

}  // namespace attnscope::ui
