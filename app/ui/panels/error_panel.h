#pragma once
#include <filesystem>

#include "ui/panels/panel.h"
#include "ui/widgets/map_view.h"

namespace attnscope::ui {

// The verdict with every figure, what the watch saw, and the error map of one head.
class ErrorPanel : public Panel {
 public:
  explicit ErrorPanel(std::filesystem::path shaders) : map_(std::move(shaders)) {}
  const char* title() const override { return "Error"; }
  Dock dock() const override { return Dock::error; }
  void draw(Context& context) override;
  // The map on the screen is complete and belongs to the shown experiment. For pictures.
  bool map_complete() const { return map_complete_; }
  MapView& map() { return map_; }

 private:
  void draw_verdict(Context& context, const Verdict& verdict);
  void draw_figures(Context& context, const Verdict& verdict);
  void draw_watch(Context& context);
  void draw_findings(Context& context, const WatchReport& watch);
  void draw_map_controls(Context& context, const Problem& problem);
  void draw_map(Context& context, const Problem& problem);
  void point_at(const MapPlace& place) const;
  ViewRequest wanted_request(const Context& context, const Problem& problem, float height) const;

  MapView map_;
  bool map_complete_ = false;
  bool all_findings_ = false;  // show more than the first few
};

}  // namespace attnscope::ui
