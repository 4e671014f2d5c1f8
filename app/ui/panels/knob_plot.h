#pragma once
#include <cstdint>
#include <string>

#include "charts/figure.h"
#include "ui/context.h"

namespace attnscope::ui {

// The latency of every value of one knob, with the others unchanged: a scan's times, and which values are refused and
// why. A click on a value makes it the current experiment.
class KnobPlot {
 public:
  void draw(Context& context);
  // Has no points if no knob was scanned.
  charts::Figure figure(const Context& context) const;

 private:
  void choose_knob(Context& context, const Kernel& kernel);
  void draw_values(Context& context, const Kernel& kernel, const Scan& scan) const;

  std::string knob_;     // empty: no knob was scanned
  uint64_t newest_ = 0;  // the scan that knob_ was taken from
};

}  // namespace attnscope::ui
