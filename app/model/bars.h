#pragma once
#include <array>
#include <string_view>

#include "core/observation.h"
#include "core/term.h"
#include "core/words.h"

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

// A modelled time as paired() looks at it, for where each of many is compared with many.
struct ModelledTime {
  double us = 0;
  int arch = 0;
  std::string_view kernel;  // of the observation, which must live as long
  bool has_terms = false;
  std::array<double, Words<TermKind>::table.size()> shares{};  // of its terms
};
ModelledTime modelled_time(const Observation& observation);
Paired paired(const ModelledTime& a, const ModelledTime& b);

// Whatever their terms, two times are never told apart up to a ratio of `never`, and always beyond `always`.
struct ApartFrom {
  double never = 1, always = 1;
};
ApartFrom apart_from();

// Of two kernels' times whose terms are not known.
Paired paired(double a_us, double b_us, int arch);

}  // namespace attnscope::model
