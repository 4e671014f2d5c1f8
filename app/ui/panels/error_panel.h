#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "ui/display/map_painter.h"
#include "ui/panels/panel.h"

namespace attnscope::ui {

// The verdict with every figure, and the error map of one head.
class ErrorPanel : public Panel {
 public:
  explicit ErrorPanel(std::filesystem::path shaders) : shaders_(std::move(shaders)) {}
  const char* title() const override { return "Error"; }
  Dock dock() const override { return Dock::error; }
  void draw(Context& context) override;
  // What the map is of is on the screen: complete, and of the shown experiment. For pictures.
  bool map_complete() const { return map_complete_; }

 private:
  void draw_verdict(Context& context, const Verdict& verdict);
  void draw_figures(Context& context, const Verdict& verdict);
  void draw_map_controls(Context& context, const Problem& problem);
  void draw_map(Context& context, const Problem& problem);
  void draw_colour_bar(const MapLook& look, double tolerance);
  void hover_map(const Tile& tile, const Problem& problem, ImVec2 low, ImVec2 size) const;
  ViewRequest wanted_request(const Context& context, const Problem& problem, float height) const;
  void ask(Context& context, const ViewRequest& request);

  std::filesystem::path shaders_;
  std::unique_ptr<MapPainter> painter_;
  std::optional<Failure> no_painter_;
  std::shared_ptr<const Tile> tile_;  // the newest that came, kept until a newer one replaces it
  std::string tile_of_;               // its key
  uint64_t tile_version_ = 0;
  double tile_low_ = 0, tile_high_ = 0;  // finite extremes of tile_
  std::string asked_;                    // key and state that the last request was for
  double asked_at_ = 0;
  bool map_complete_ = false;
};

}  // namespace attnscope::ui
