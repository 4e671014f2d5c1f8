#include "ui/widgets/map_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "charts/format.h"
#include "ui/icons.h"
#include "ui/widgets/part.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

constexpr double kAskAgain = 0.15;       // seconds between requests while a map grows
constexpr double kSharedPatience = 5;    // seconds until an unanswered request is repeated
constexpr float kZoomStep = 1.25f;       // per notch of the wheel
constexpr float kLeastPart = 1.0f / 64;  // share of the map's side
constexpr int64_t kMostTexels = 8192;    // per side, for a map that stays on the GPU: 256 MB twice

// The value's position as a share of the bar's width.
double share_of(const MapLook& look, double value) {
  const double low = static_cast<double>(look.low), high = static_cast<double>(look.high);
  const double share = look.logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return std::clamp(share, 0.0, 1.0);
}

void stepper(const char* name, int64_t& value, int64_t count) {
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
}

constexpr size_t kMostPictureCells = 1024;  // of a saved picture's side

// A block's largest cell, or its first that is not a number; null if no cell has arrived yet.
const double* largest_of(const charts::Sheet& sheet, size_t left, size_t top, size_t side) {
  const double* largest = nullptr;
  const size_t bottom = std::min(top + side, sheet.rows.size());
  for (size_t y = top; y < bottom; ++y)
    for (size_t x = left; x < std::min(left + side, sheet.rows[y].size() - 1); ++x) {
      const auto* value = std::get_if<double>(&sheet.rows[y][x + 1]);  // the first column is the row's name
      if (value == nullptr || (largest != nullptr && std::isnan(*largest))) continue;
      if (largest == nullptr || std::isnan(*value) || *value > *largest) largest = value;
    }
  return largest;
}

}  // namespace

void point_out(const MapPlace& place, const std::string& words) {
  ImGui::SetTooltip("%s", words.c_str());
  ImGui::GetWindowDrawList()->AddRect({place.low.x - 1, place.low.y - 1}, {place.high.x + 1, place.high.y + 1},
                                      palette().text);
}

void head_controls(Context& context, const Problem& problem) {
  ViewState& view = context.view;
  view.head = std::clamp<int64_t>(view.head, 0, std::max<int64_t>(problem.heads - 1, 0));
  view.batch = std::clamp<int64_t>(view.batch, 0, std::max<int64_t>(problem.batch - 1, 0));
  stepper("head", view.head, problem.heads);
  if (problem.batch <= 1) return;
  ImGui::SameLine(0, em(0.5f));
  stepper("batch", view.batch, problem.batch);
}

void MapView::ask(Context& context, const ViewRequest& request, bool growing) {
  const std::string key = session::tile_key(request) + (growing ? " growing" : " final");
  const double now = ImGui::GetTime();
  if (key == asked_ && (!growing || now - asked_at_ < kAskAgain)) return;
  asked_ = key;
  asked_at_ = now;
  context.session.request_view(request);
}

void MapView::take(std::shared_ptr<const Tile> tile, const std::string& key) {
  tile_ = std::move(tile);
  tile_of_ = key;
  ++version_;
  low_ = high_ = 0;
  for (const float value : tile_->values) {
    if (!std::isfinite(value)) continue;
    low_ = std::min(low_, static_cast<double>(value));
    high_ = std::max(high_, static_cast<double>(value));
  }
}

bool MapView::note_refusal(const Context& context, const std::string& key, const ViewRequest& request) {
  const auto found = context.snapshot.refused_views.find(key);
  if (found == context.snapshot.refused_views.end()) return false;
  refusal_ = found->second;
  refused_key_ = key;
  refused_of_ = session::tile_key(request);
  return true;
}

// Only one answer is pending at a time, so that no buffer is written while it is copied.
void MapView::follow_shared(Context& context, const ViewRequest& request) {
  if (!shared_key_.empty()) {
    const auto found = context.snapshot.tiles.find(shared_key_);
    if (found != context.snapshot.tiles.end() && found->second != nullptr) {
      shared_key_.clear();
      take_shared(context, found->second);
    } else if (note_refusal(context, shared_key_, request)) {
      shared_key_.clear();
    } else if (ImGui::GetTime() - asked_at_ > kSharedPatience) {
      shared_key_.clear();  // its executor is gone
      asked_.clear();
    } else {
      context.wake_within(0.05);
    }
  }
  if (!shared_key_.empty() || shared_failed_ || asked_ == session::tile_key(request) + " shared") return;
  if (!ask_shared(context, request)) shared_failed_ = true;
}

bool MapView::ask_shared(Context& context, const ViewRequest& request) {
  if (!port_) port_ = std::make_unique<PixelPort>(*context.interop);
  ViewRequest wish = request;
  wish.width = wish.height = 0;  // one texel per element; no values are sent
  const auto& problem = context.shown.observation->experiment.problem;
  const int64_t columns = request.map == MapKind::attention ? problem.seq_k : problem.head_dim;
  if (columns > kMostTexels || problem.seq_q > kMostTexels) return false;
  const auto target = port_->target(columns * problem.seq_q * int64_t{sizeof(float)});
  if (!target) {
    context.pixels = {"pipe", target.error().message};
    return false;
  }
  wish.target = *target;
  shared_wish_ = request;
  shared_key_ = session::tile_key(wish);
  asked_ = session::tile_key(request) + " shared";
  asked_at_ = ImGui::GetTime();
  context.session.request_view(wish);
  return true;
}

void MapView::take_shared(Context& context, std::shared_ptr<const Tile> tile) {
  if (!tile->in_target) {
    shared_failed_ = true;
    context.pixels = {"pipe", tile->not_in_target + "."};
    return take(std::move(tile), session::tile_key(shared_wish_));
  }
  if (!painter_) return;
  if (const auto taken = painter_->take(*port_, *tile, version_ + 1); !taken) {
    shared_failed_ = true;
    context.pixels = {"pipe", taken.error().message};
    asked_.clear();
    return;
  }
  const double low = static_cast<double>(tile->low), high = static_cast<double>(tile->high);
  take(std::move(tile), session::tile_key(shared_wish_));
  low_ = low;
  high_ = high;
}

void MapView::follow(Context& context, const ViewRequest& request, bool growing) {
  if (!painter_ && !no_painter_) {
    Result<std::unique_ptr<MapPainter>> made = MapPainter::create(shaders_);
    if (made)
      painter_ = std::move(*made);
    else
      no_painter_ = made.error();
  }
  if (refusal_ &&
      (refused_of_ != session::tile_key(request) || !context.snapshot.refused_views.contains(refused_key_))) {
    refusal_.reset();  // another map is shown, or its run was repeated
    asked_.clear();
  }
  const bool shared = context.interop != nullptr && context.interop->poll() == Interop::State::ready && !shared_failed_;
  if (shared && !growing) return follow_shared(context, request);
  ask(context, request, growing);
  const std::string key = session::tile_key(request);
  const auto found = context.snapshot.tiles.find(key);
  if (found != context.snapshot.tiles.end() && found->second != nullptr && found->second != tile_)
    take(found->second, key);
  note_refusal(context, key, request);
}

bool MapView::is_of(const ViewRequest& request) const { return tile_ && tile_of_ == session::tile_key(request); }

bool MapView::whole() const {
  return tile_ && std::all_of(tile_->ready_rows.begin(), tile_->ready_rows.end(), [](uint8_t row) { return row != 0; });
}

bool MapView::draw(const MapLook& look, ImVec2 size, bool dimmed, const std::string& waiting) {
  at_ = ImGui::GetCursorScreenPos();
  size_ = size;
  if (no_painter_) {
    failure_box(*no_painter_, "##no painter");
    return false;
  }
  if (refusal_ && tile_of_ != refused_of_) {
    draw_refusal(size);
    return false;
  }
  if (!tile_ || !painter_) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(at_, {at_.x + size.x, at_.y + size.y}, palette().raised, em(0.2f));
    list->AddText({at_.x + (size.x - width_of(waiting)) / 2, at_.y + size.y / 2}, palette().faint, waiting.c_str());
    ImGui::Dummy(size);
    return false;
  }
  const ImVec2 density = ImGui::GetIO().DisplayFramebufferScale;
  ImGui::InvisibleButton("##pixels", size);
  zoom_and_move();
  MapLook seen = look;
  seen.x = part_.x;
  seen.y = part_.y;
  seen.width = part_.width;
  seen.height = part_.height;
  seen.nan = palette().nan;
  seen.inf = palette().inf;
  seen.not_yet = palette().not_yet;
  const uint32_t texture = painter_->paint(*tile_, version_, seen, static_cast<int>(size.x * density.x),
                                           static_cast<int>(size.y * density.y));
  ImGui::GetWindowDrawList()->AddImage(static_cast<ImTextureID>(texture), at_, {at_.x + size.x, at_.y + size.y}, {0, 0},
                                       {1, 1}, with_alpha(IM_COL32_WHITE, dimmed ? 0.45f : 1.0f));
  return true;
}

// Zooms around the point under the mouse, which stays in place.
void MapView::zoom_and_move() {
  ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);  // otherwise the panel scrolls
  const ImGuiIO& io = ImGui::GetIO();
  const auto kept = [](float begin, float span) { return std::clamp(begin, 0.0f, 1 - span); };
  if (ImGui::IsItemHovered() && io.MouseWheel != 0) {
    const float span = std::clamp(part_.width * std::pow(kZoomStep, -io.MouseWheel), kLeastPart, 1.0f);
    const float x = (io.MousePos.x - at_.x) / size_.x, y = (io.MousePos.y - at_.y) / size_.y;
    part_.x = kept(part_.x + x * (part_.width - span), span);
    part_.y = kept(part_.y + y * (part_.height - span), span);
    part_.width = part_.height = span;
  }
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left)) {
    part_.x = kept(part_.x - io.MouseDelta.x / size_.x * part_.width, part_.width);
    part_.y = kept(part_.y - io.MouseDelta.y / size_.y * part_.height, part_.height);
  }
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) part_ = {};
}

int MapView::detail() const {
  int detail = 1;
  while (static_cast<float>(detail * 2) * part_.width <= 1) detail *= 2;
  return detail;
}

void MapView::draw_refusal(ImVec2 size) const {
  ImGui::GetWindowDrawList()->AddRectFilled(at_, {at_.x + size.x, at_.y + size.y}, palette().raised, em(0.2f));
  if (ImGui::BeginChild("##no map", size, ImGuiChildFlags_AlwaysUseWindowPadding))
    empty_state(ICON_INFO, refusal_->message, refusal_->hint);
  ImGui::EndChild();
}

charts::Sheet MapView::sheet(int64_t rows, int64_t columns) {
  charts::Sheet sheet{{"row"}, {}};
  if (!tile_) return sheet;
  const std::vector<float> all = tile_->in_target ? values() : tile_->values;
  const auto wide = static_cast<size_t>(tile_->width), high = static_cast<size_t>(tile_->height);
  if (all.size() < wide * high) return sheet;
  for (size_t x = 0; x < wide; ++x)
    sheet.columns.push_back(std::to_string(static_cast<int64_t>(x) * columns / tile_->width));
  for (size_t y = 0; y < high; ++y) {
    std::vector<charts::Cell>& row = sheet.rows.emplace_back();
    row.emplace_back(static_cast<int64_t>(y) * rows / tile_->height);
    const bool ready = y >= tile_->ready_rows.size() || tile_->ready_rows[y] != 0;
    for (size_t x = 0; x < wide; ++x)
      row.push_back(ready ? charts::Cell(static_cast<double>(all[y * wide + x])) : charts::Cell());
  }
  return sheet;
}

charts::Figure MapView::figure(const MapLook& look, int64_t rows, int64_t columns, const std::string& title) {
  const auto axis = [](const char* name, int64_t elements, bool down) {
    charts::FigureAxis made{name, 0, static_cast<double>(elements), false, {}};
    if (down) std::swap(made.low, made.high);
    const int64_t step = std::max<int64_t>(1, elements / 8);
    for (int64_t at = 0; at < elements; at += step) made.marks.emplace_back(double(at), std::to_string(at));
    return made;
  };
  charts::Figure figure;
  figure.title = title;
  figure.note = fmt::format("from {:.3g} to {:.3g}{}, dark to light or to orange, in 64 steps", look.low, look.high,
                            look.logarithmic ? ", logarithmic" : "");
  figure.x = axis("column", columns, false);
  figure.y = axis("row", rows, true);
  figure.sheet = sheet(rows, columns);
  // A map that stays on the GPU has a value for each element, which no picture can hold: of a block it shows the
  // largest.
  const size_t wide = figure.sheet.columns.size() - 1, high_cells = figure.sheet.rows.size();
  const size_t step = std::max<size_t>(1, (std::max(wide, high_cells) + kMostPictureCells - 1) / kMostPictureCells);
  if (step > 1) figure.note += fmt::format("; each cell is the largest of {0} x {0} values", step);
  figure.raster = {(wide + step - 1) / step, (high_cells + step - 1) / step, {}};
  const auto& ramp = colour_ramp(look.ramp);
  const auto rgb = [](ImU32 colour) { return (colour & 0xFF) << 16 | (colour & 0xFF00) | ((colour >> 16) & 0xFF); };
  const auto scaled = [&](double value) { return look.logarithmic ? std::log(value) : value; };
  const double low = scaled(double(look.low)), high = scaled(double(look.high));
  for (size_t y = 0; y < high_cells; y += step)
    for (size_t x = 0; x < wide; x += step) {
      const double* const value = largest_of(figure.sheet, x, y, step);
      uint32_t colour = rgb(palette().not_yet);
      if (value != nullptr && std::isfinite(*value)) {
        const bool least = look.logarithmic && *value <= 0;
        const double share = least || high <= low ? 0 : std::clamp((scaled(*value) - low) / (high - low), 0.0, 1.0);
        const size_t at = static_cast<size_t>(share * 63) * 4 * 255 / 252 * 4;  // 64 of the ramp's 256 colours
        colour = static_cast<uint32_t>(ramp[at] << 16 | ramp[at + 1] << 8 | ramp[at + 2]);
      } else if (value != nullptr) {
        colour = rgb(std::isnan(*value) ? palette().nan : palette().inf);
      }
      figure.raster.colours.push_back(colour);
    }
  return figure;
}

std::optional<MapPlace> MapView::hovered(int64_t rows, int64_t columns) {
  if (!tile_ || !ImGui::IsItemHovered()) return std::nullopt;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const float wide = static_cast<float>(tile_->width), high = static_cast<float>(tile_->height);
  MapPlace place;
  const float across = part_.x + (mouse.x - at_.x) / size_.x * part_.width;
  const float down = part_.y + (mouse.y - at_.y) / size_.y * part_.height;
  place.x = std::clamp(static_cast<int>(across * wide), 0, tile_->width - 1);
  place.y = std::clamp(static_cast<int>(down * high), 0, tile_->height - 1);
  place.row = place.y * rows / tile_->height;
  place.row_end = std::max((place.y + 1) * rows / tile_->height, place.row + 1);
  place.column = place.x * columns / tile_->width;
  place.column_end = std::max((place.x + 1) * columns / tile_->width, place.column + 1);
  const auto y = static_cast<size_t>(place.y);
  const size_t at = y * static_cast<size_t>(tile_->width) + static_cast<size_t>(place.x);
  if (!tile_->in_target && at >= tile_->values.size()) return std::nullopt;
  place.value = tile_->in_target ? painter_->value_at(place.x, place.y) : tile_->values[at];
  place.ready = y >= tile_->ready_rows.size() || tile_->ready_rows[y] != 0;
  place.low = {x_of(static_cast<double>(place.x) / tile_->width), y_of(static_cast<double>(place.y) / tile_->height)};
  place.high = {place.low.x + std::max(size_.x / wide / part_.width, 3.0f),
                place.low.y + std::max(size_.y / high / part_.height, 3.0f)};
  return place;
}

void MapView::colour_bar(const MapLook& look, double marked, const std::string& explanation) {
  if (!painter_) return;
  ImGui::PushFont(nullptr, kSmallSize);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = em(0.55f);
  list->AddImage(static_cast<ImTextureID>(painter_->bar_texture(look.ramp)), at, {at.x + width, at.y + height});
  const auto tick = [&](double value, const std::string& words) {
    const float x = at.x + width * f32(share_of(look, value)), wide = width_of(words);
    list->AddLine({x, at.y + height * 0.5f}, {x, at.y + height + em(0.15f)}, palette().dim, 1.0f);
    list->AddText({std::clamp(x - wide / 2, at.x, at.x + width - wide), at.y + height + em(0.1f)}, palette().dim,
                  words.c_str());
  };
  if (look.logarithmic) {
    const int low = static_cast<int>(std::lround(std::log10(static_cast<double>(look.low))));
    const int high = static_cast<int>(std::lround(std::log10(static_cast<double>(look.high))));
    const int step = std::max(1, (high - low + 4) / 5);
    for (int power = low; power <= high; power += step) tick(std::pow(10.0, power), fmt::format("1e{}", power));
  } else {
    for (const double share : {0.0, 0.5, 1.0}) {
      const double value = static_cast<double>(look.low) + share * static_cast<double>(look.high - look.low);
      tick(value, charts::error_text(value));
    }
  }
  if (marked > 0) {
    const float x = at.x + width * f32(share_of(look, marked));
    list->AddLine({x, at.y - em(0.15f)}, {x, at.y + height}, palette().text, std::max(2.0f, em(0.12f)));
    list->AddTriangleFilled({x - em(0.3f), at.y - em(0.35f)}, {x + em(0.3f), at.y - em(0.35f)}, {x, at.y},
                            palette().text);
  }
  ImGui::Dummy({width, em(1.6f)});
  tooltip(explanation);
  ImGui::PopFont();
}

}  // namespace attnscope::ui
