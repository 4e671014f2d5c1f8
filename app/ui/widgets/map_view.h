#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "charts/figure.h"
#include "ui/context.h"
#include "ui/display/map_painter.h"

namespace attnscope::ui {

// What is under the mouse: a texel and its elements, [begin, end).
struct MapPlace {
  int x = 0, y = 0;
  int64_t row = 0, row_end = 0, column = 0, column_end = 0;
  bool ready = true;  // computed
  float value = 0;
  ImVec2 low, high;  // the texel's corners on the screen
};

// The visible part of a map, as shares of its sides.
struct MapPart {
  float x = 0, y = 0, width = 1, height = 1;
};

// One map on the screen: requests it, keeps the newest answer, shades it and handles the mouse. The shown map stays
// until a newer one arrives, dimmed if it answers another request.
class MapView {
 public:
  explicit MapView(std::filesystem::path shaders) : shaders_(std::move(shaders)) {}

  // Sends `request` once, or repeatedly while the map grows, and takes the answers. If the window and the executor
  // share a GPU, a complete map arrives with one texel per element and stays on the GPU; a growing one comes through
  // the pipe.
  void follow(Context& context, const ViewRequest& request, bool growing);
  // Draws at the cursor in `size` pixels, with values that are not numbers in the theme's colours; without a map, shows
  // `waiting` or the reason. Returns false if there is nothing to point at.
  bool draw(const MapLook& look, ImVec2 size, bool dimmed, const std::string& waiting);
  // The place under the mouse in a map of `rows` by `columns` elements, which must be the last drawn item; empty if the
  // mouse is elsewhere.
  std::optional<MapPlace> hovered(int64_t rows, int64_t columns);
  // The look's colours with their values below, over the remaining width; a triangle at `marked` if that is above 0.
  void colour_bar(const MapLook& look, double marked, const std::string& explanation);

  const Tile* tile() const { return tile_.get(); }
  // Every value of the map of `rows` by `columns` elements, named by the first element that its texel covers.
  charts::Sheet sheet(int64_t rows, int64_t columns);
  // The whole map in that look's colours, in 64 steps. Values that are not numbers or not computed yet are in the
  // theme's colours.
  charts::Figure figure(const MapLook& look, int64_t rows, int64_t columns, const std::string& title);
  // The values on the screen, read back from OpenGL: row-major, the tile's size. For tests.
  std::vector<float> values() { return painter_ ? painter_->values() : std::vector<float>(); }
  bool is_of(const ViewRequest& request) const;  // true if the newest map answers exactly this request
  bool whole() const;                            // every row of it is computed
  // Why the last request has no answer; null if it has one or is pending.
  const Failure* refusal() const { return refusal_ ? &*refusal_ : nullptr; }
  double low() const { return low_; }  // finite extremes, including 0
  double high() const { return high_; }
  ImVec2 place() const { return at_; }  // of the last draw, on the screen
  ImVec2 size() const { return size_; }
  // The visible part. The wheel zooms, a drag moves, a double click shows the whole map.
  const MapPart& part() const { return part_; }
  // How much finer than the whole map the part should be: 1, 2, 4, ...
  int detail() const;
  // Where a share of the map's width or height is drawn on the screen; outside of place() and size() if it is not
  // visible.
  float x_of(double share) const {
    return at_.x + size_.x * f32((share - static_cast<double>(part_.x)) / static_cast<double>(part_.width));
  }
  float y_of(double share) const {
    return at_.y + size_.y * f32((share - static_cast<double>(part_.y)) / static_cast<double>(part_.height));
  }

 private:
  void ask(Context& context, const ViewRequest& request, bool growing);
  void follow_shared(Context& context, const ViewRequest& request);
  bool note_refusal(const Context& context, const std::string& key, const ViewRequest& request);
  void draw_refusal(ImVec2 size) const;
  void zoom_and_move();
  void take(std::shared_ptr<const Tile> tile, const std::string& key);
  void take_shared(Context& context, std::shared_ptr<const Tile> tile);
  bool ask_shared(Context& context, const ViewRequest& request);

  std::filesystem::path shaders_;
  std::unique_ptr<MapPainter> painter_;
  std::optional<Failure> no_painter_;
  std::shared_ptr<const Tile> tile_;
  std::string tile_of_;  // its key
  uint64_t version_ = 0;
  double low_ = 0, high_ = 0;
  std::string asked_;  // key and state of the last request
  std::optional<Failure> refusal_;
  std::string refused_key_, refused_of_;  // the refused key, and the key of its request
  double asked_at_ = 0;
  ImVec2 at_, size_;
  MapPart part_;
  std::unique_ptr<PixelPort> port_;
  ViewRequest shared_wish_;     // the pending shared request, without its target
  std::string shared_key_;      // key of that request; empty: none is pending
  bool shared_failed_ = false;  // this map uses the pipe from now on
};

// Outlines the place and shows `words` in a tooltip.
void point_out(const MapPlace& place, const std::string& words);

// Steps through heads, and through the batch if it has more than one element.
void head_controls(Context& context, const Problem& problem);

}  // namespace attnscope::ui
