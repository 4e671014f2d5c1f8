#pragma once
#include <optional>

#include "charts/latency_chart.h"
#include "ui/panels/latency_plot.h"
#include "ui/panels/panel.h"

namespace attnscope::ui {

// The current figure in large type with its bound, then every run.
class LatencyPanel : public Panel {
 public:
  const char* title() const override { return "Latency"; }
  Dock dock() const override { return Dock::latency; }
  void draw(Context& context) override;
  // The change shown beside the figure in the last frame, or empty.
  const std::optional<charts::Delta>& delta() const { return delta_; }

 private:
  void draw_headline(Context& context);
  static void draw_reason(const Context& context);
  static bool narrow();
  void find_change(const Context& context);
  void draw_change() const;
  void draw_change_line() const;
  ImU32 colour_of_change() const;

  std::optional<charts::Delta> delta_;
  LatencyPlot plot_;
};

}  // namespace attnscope::ui
