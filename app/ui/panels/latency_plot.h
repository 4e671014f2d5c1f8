#pragma once
#include <optional>
#include <string>
#include <vector>

#include "charts/latency_axis.h"
#include "ui/context.h"

namespace attnscope::ui {

// Every run as a column, in order, and reported figures as a rug in their own margin, where they cover no run. Only the
// live run, the hovered one and the baseline (A) are labelled.
class LatencyPlot {
 public:
  void draw(Context& context);

 private:
  void set_up_axes(const Context& context, const charts::LatencyAxis& axis, float width, float height);
  void draw_columns(const Context& context, std::optional<size_t> hovered) const;
  static void draw_names(const Context& context, std::optional<size_t> hovered);
  static void draw_rug(const std::vector<charts::Reported>& lines, const charts::LatencyAxis& axis, float margin,
                       bool named);
  static void choose_axis(Context& context, const charts::LatencyAxis& axis, ImVec2 at);
  static void point_at(Context& context, size_t column);

  unsigned plot_ = 0;    // the plot drawn last, the panel's or the presenter's
  bool follow_ = true;   // keeps the newest run visible
  size_t followed_ = 0;  // number of columns when the view last moved
  double in_sight_ = 0;  // columns that fit the width
};

}  // namespace attnscope::ui
