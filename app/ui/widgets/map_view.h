#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "ui/context.h"
#include "ui/display/map_painter.h"

namespace attnscope::ui {

// What the mouse is over: a texel and the elements under it, [begin, end).
struct MapPlace {
  int x = 0, y = 0;
  int64_t row = 0, row_end = 0, column = 0, column_end = 0;
  bool ready = true;  // computed
  float value = 0;
  ImVec2 low, high;  // the texel on the screen
};

// One map on the screen: asks for it, keeps the newest that came, shades it, answers the mouse. What it shows stays
// until something newer is there, dimmed when it is of another request.
class MapView {
 public:
  explicit MapView(std::filesystem::path shaders) : shaders_(std::move(shaders)) {}

  // Asks for `request` once, or again and again while it grows, and takes what has come.
  void follow(Context& context, const ViewRequest& request, bool growing);
  // Draws at the cursor in `size` pixels; without a map, `waiting` in its place. False: nothing to point at.
  bool draw(const MapLook& look, ImVec2 size, bool dimmed, const std::string& waiting);
  // The last drawn map under the mouse, of `rows` by `columns` elements; empty: the mouse is elsewhere.
  std::optional<MapPlace> hovered(int64_t rows, int64_t columns) const;
  // The look's colours with their values below, over the width that is left; a triangle at `marked` if that is above 0.
  void colour_bar(const MapLook& look, double marked, const std::string& explanation);

  const Tile* tile() const { return tile_.get(); }
  bool is_of(const ViewRequest& request) const;  // the newest map is of this very request
  bool whole() const;                            // every row of it is computed
  double low() const { return low_; }            // finite extremes, 0 included
  double high() const { return high_; }
  ImVec2 place() const { return at_; }  // of the last draw, on the screen
  ImVec2 size() const { return size_; }

 private:
  void ask(Context& context, const ViewRequest& request, bool growing);
  void take(std::shared_ptr<const Tile> tile, const std::string& key);

  std::filesystem::path shaders_;
  std::unique_ptr<MapPainter> painter_;
  std::optional<Failure> no_painter_;
  std::shared_ptr<const Tile> tile_;
  std::string tile_of_;  // its key
  uint64_t version_ = 0;
  double low_ = 0, high_ = 0;
  std::string asked_;  // key and state that the last request was for
  double asked_at_ = 0;
  ImVec2 at_, size_;
};

// Steps through heads, and through the batch where there is one.
void head_controls(Context& context, const Problem& problem);

}  // namespace attnscope::ui
