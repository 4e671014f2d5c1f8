#pragma once
#include <cstdint>
#include <string>

#include "charts/figure.h"
#include "ui/context.h"

namespace attnscope::ui {

// The latency of every value of one knob, with the others held: a scan's times, what is refused and why. A click on a
// value makes it the current experiment.
class KnobPlot {
 public:
  void draw(Context& context);
  // Without points if no knob was scanned.
  charts::Figure figure(const Context& context) const;

 private:
  void choose_knob(Context& context, const Kernel& kernel);
  void draw_values(Context& context, const Kernel& kernel, const Scan& scan) const;

  std::string knob_;     // empty: none was scanned
  uint64_t newest_ = 0;  // the scan that knob_ came from
};

}  // namespace attnscope::ui
