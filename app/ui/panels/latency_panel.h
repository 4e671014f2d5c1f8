#pragma once
#include <string>

#include "charts/figure.h"
#include "ui/panels/knob_plot.h"
#include "ui/panels/latency_plot.h"
#include "ui/panels/panel.h"
#include "ui/panels/roofline_plot.h"

namespace attnscope::ui {

// The current figure in large type with its bound, then every run.
class LatencyPanel : public Panel {
 public:
  const char* title() const override { return "Latency"; }
  Dock dock() const override { return Dock::latency; }
  void draw(Context& context) override;
  // The plot, for export.
  charts::Figure figure(const Context& context) const;

 private:
  void draw_content(Context& context);
  void draw_headline(Context& context);
  static void choose_view(Context& context);
  static float views_width();
  void draw_reason(const Context& context);
  static bool narrow();
  static void draw_change(const Context& context);
  static void draw_change_line(const Context& context);

  std::string reason_;            // the reason beside the shown time
  Bound bound_ = Bound::unknown;  // of that reason
  LatencyPlot plot_;
  KnobPlot by_knob_;
  RooflinePlot roofline_;
};

}  // namespace attnscope::ui
