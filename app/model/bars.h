#pragma once
#include "core/observation.h"

namespace attnscope::model {

// How far measured times are from modelled ones, as a range of measured over modelled: four of five times lie inside.
// bench/model_bars.py makes the figures from recorded times and stores them in assets/model/bars.json.
struct Bar {
  double low = 1, high = 1;
};

// The bar of a time with this bound. `traced`: it was simulated; without a path the counters say much less.
// Architectures on which nothing was measured have wider bars.
Bar bar_of(Bound bound, bool traced, int arch);

// Two modelled times of one problem on one device: B's over A's, and the bar of that ratio. The model's error is partly
// the same for both, the more so the more alike their terms are, so this bar is narrower than the two bars together.
struct Paired {
  double ratio = 1, low = 1, high = 1;
  bool told_apart() const { return low > 1 || high < 1; }
};

// Both must have a modelled time, and comparable() must allow the comparison.
Paired paired(const Observation& a, const Observation& b);

// Of two kernels' times whose terms are not known.
Paired paired(double a_us, double b_us, int arch);

}  // namespace attnscope::model
