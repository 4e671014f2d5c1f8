#pragma once
#include <optional>

#include "charts/attention_tiles.h"
#include "ui/panels/map_panel.h"

namespace attnscope::ui {

// The attention matrix of one head, which the kernel computes but never stores, with the kernel's tiles, A's and the
// mask. The matrix itself is the problem's, so it is A's too.
class AttentionPanel : public MapPanel {
 public:
  using MapPanel::MapPanel;
  const char* title() const override { return "Attention"; }
  void draw(Context& context) override;

 private:
  // B's tiles, and A's if it is beside B.
  struct Tiles {
    charts::AttentionTiles b;
    std::optional<charts::AttentionTiles> a;
  };
  void draw_controls(Context& context, const Problem& problem, const Tiles& tiles);
  void draw_map(Context& context, const Problem& problem, const Tiles& tiles);
  void draw_grid(const Problem& problem, const charts::AttentionTiles& tiles, bool of_a) const;
  void draw_mask(const Problem& problem) const;
  void point_at(const MapPlace& place, const Problem& problem, const Tiles& tiles) const;
  ViewRequest wanted_request(const Context& context, const Problem& problem, ImVec2 size) const;

  bool show_grid_ = true;
};

}  // namespace attnscope::ui
