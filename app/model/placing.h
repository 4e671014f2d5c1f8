#pragma once
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace attnscope::model {

// A CTA that has a place; times are counted in instructions.
struct PlacedCta {
  int64_t cta = 0, sm = 0, place = 0;
  double from = 0, to = 0;
};

// Hands out `ctas` CTAs as the hardware does: in linear order, one to each SM, then a second to each, up to `resident`,
// then each to the first place that becomes free. A CTA takes as long as it has instructions: `along_x`, by its place
// along x. Calls take(PlacedCta) for each.
template <class Take>
void hand_out(const std::vector<double>& along_x, int64_t ctas, int64_t sms, int64_t resident, Take take) {
  using Place = std::pair<double, int64_t>;  // when it is free; place · sms + sm
  std::priority_queue<Place, std::vector<Place>, std::greater<>> places;
  for (int64_t place = 0; place < sms * resident; ++place) places.emplace(0, place);
  const auto width = static_cast<int64_t>(along_x.size());
  for (int64_t cta = 0; cta < ctas; ++cta) {
    const auto [free, place] = places.top();
    places.pop();
    const double ends = free + along_x[static_cast<size_t>(cta % width)];
    places.emplace(ends, place);
    take(PlacedCta{cta, place % sms, place / sms, free, ends});
  }
}

}  // namespace attnscope::model
