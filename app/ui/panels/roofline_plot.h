#pragma once
#include "charts/figure.h"
#include "ui/context.h"

namespace attnscope::ui {

// Runs under the device's ceilings, with two logarithmic axes: measured runs are discs and modelled ones hollow
// diamonds, and a line joins A and B.
class RooflinePlot {
 public:
  static void draw(Context& context);
  static charts::Figure figure(const Context& context);
};

}  // namespace attnscope::ui
