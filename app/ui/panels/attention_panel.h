#pragma once
#include "ui/panels/map_panel.h"

namespace attnscope::ui {

// The attention matrix of one head, which the kernel computes but never stores, with the kernel's tiles and the mask.
class AttentionPanel : public MapPanel {
 public:
  using MapPanel::MapPanel;
  const char* title() const override { return "Attention"; }
  void draw(Context& context) override;

 private:
  // The size of the kernel's tiles; 0 if it declares none.
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

  bool show_grid_ = true;
};

}  // namespace attnscope::ui
