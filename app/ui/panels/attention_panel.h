#pragma once
#include <filesystem>

#include "ui/panels/panel.h"
#include "ui/widgets/map_view.h"

namespace attnscope::ui {

// The attention matrix of one head, which the kernel computes but never stores, with its tiles and the mask.
class AttentionPanel : public Panel {
 public:
  explicit AttentionPanel(std::filesystem::path shaders) : map_(std::move(shaders)) {}
  const char* title() const override { return "Attention"; }
  Dock dock() const override { return Dock::error; }
  void draw(Context& context) override;
  // The map is complete and belongs to the shown experiment. For pictures and tests.
  bool map_complete() const { return map_complete_; }
  MapView& map() { return map_; }

 private:
  // The kernel's tiles, 0 if it declares none.
  struct TileGrid {
    int64_t rows = 0, keys = 0;
  };
  void draw_controls(Context& context, const Problem& problem, const TileGrid& grid);
  void draw_map(Context& context, const Problem& problem, const TileGrid& grid);
  void draw_grid(const Problem& problem, const TileGrid& grid) const;
  void draw_mask(const Problem& problem) const;
  void point_at(const MapPlace& place, const Problem& problem, const TileGrid& grid) const;
  ViewRequest wanted_request(const Context& context, const Problem& problem, ImVec2 size) const;
  static TileGrid grid_of(const Experiment& experiment);

  MapView map_;
  bool show_grid_ = true;
  bool map_complete_ = false;
};

}  // namespace attnscope::ui
