#pragma once
#include <cstdint>
#include <optional>

#include "ui/panels/panel.h"

namespace attnscope::ui {

// The current figure large, then every run as a column in the order of runs, reported figures as dashed lines.
class LatencyPanel : public Panel {
 public:
  const char* title() const override { return "Latency"; }
  Dock dock() const override { return Dock::latency; }
  void draw(Context& context) override;

 private:
  void draw_headline(Context& context);
  static void draw_reason(const Context& context);
  void draw_change(Context& context);
  void draw_plot(Context& context);
  void draw_columns(Context& context);
  void draw_lines(const std::vector<charts::Reported>& lines);
  void hover_column(Context& context);

  bool follow_ = true;   // keep the newest run in sight
  size_t followed_ = 0;  // columns when the view was last moved
  double left_ = -0.5, right_ = 15.5;
};

}  // namespace attnscope::ui
