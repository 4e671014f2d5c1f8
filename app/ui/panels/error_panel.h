#pragma once
#include <string>

#include "ui/panels/map_panel.h"

namespace attnscope::ui {

// The verdict with every figure, the watch's findings, and the error map of one head.
class ErrorPanel : public MapPanel {
 public:
  using MapPanel::MapPanel;
  const char* title() const override { return "Error"; }
  void draw(Context& context) override;

 private:
  void draw_verdict(Context& context, const Verdict& verdict);
  void draw_figures(Context& context, const Verdict& verdict);
  static void draw_limits(const std::string& words);
  void draw_watch(Context& context);
  void draw_findings(Context& context, const WatchReport& watch);
  void draw_map_controls(Context& context, const Problem& problem);
  void draw_map(Context& context, const Problem& problem);
  void point_at(const MapPlace& place) const;
  ViewRequest wanted_request(const Context& context, const Problem& problem, float height) const;

  static void draw_gone(const Context& context);

  bool all_findings_ = false;  // shows all findings instead of the first few
};

}  // namespace attnscope::ui
