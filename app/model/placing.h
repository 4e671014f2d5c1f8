#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace attnscope::model {

// A CTA that has a place; times are counted in instructions.
struct PlacedCta {
  int64_t cta = 0, sm = 0, place = 0;
  double from = 0, to = 0;
};

// The places that a kernel's CTAs get first. Some SMs, the last ones, are ahead of the others: they get their first CTA
// at once, and the next ones after so many CTAs in all; then no more until the others have as many. No SM gets more
// than its share of a small grid.
struct FirstPlaces {
  int64_t sms = 1, resident = 1;
  int64_t ctas = std::numeric_limits<int64_t>::max();  // of the grid
  int64_t ahead = 0;                                   // SMs
  std::array<int64_t, 2> next_after{-1, -1};           // CTAs before their second and third; -1: with the others

  // place · sms + sm, in order.
  std::vector<int64_t> in_order() const {
    std::vector<int64_t> order;
    const int64_t others = sms - ahead, share = std::min(resident, (std::min(ctas, sms * resident) + sms - 1) / sms);
    int64_t given = 0, rounds = 0;  // to the others; CTAs of each SM that is ahead
    const auto due = [&] {
      if (rounds == share || ahead == 0) return false;
      if (given == others * share) return true;
      const auto next = static_cast<size_t>(rounds - 1);
      if (rounds > 0 && next < next_after.size() && next_after[next] >= 0)
        return static_cast<int64_t>(order.size()) >= next_after[next];
      return given >= rounds * others;
    };
    while (static_cast<int64_t>(order.size()) < sms * share) {
      if (due()) {
        for (int64_t sm = others; sm < sms; ++sm) order.push_back(rounds * sms + sm);
        ++rounds;
      } else {
        order.push_back(given / others * sms + given % others);
        ++given;
      }
    }
    return order;
  }
};

// Hands out `ctas` CTAs as the hardware does: in linear order, one to each SM, then a second to each, up to `resident`,
// then each to the first place that becomes free. A CTA takes as long as it has instructions: `along_x`, by its place
// along x. Calls take(PlacedCta) for each.
template <class Take>
void hand_out(const std::vector<double>& along_x, int64_t ctas, const FirstPlaces& first, Take take) {
  using Place = std::pair<double, int64_t>;  // when it is free; place · sms + sm
  std::priority_queue<Place, std::vector<Place>, std::greater<>> places;
  const int64_t sms = first.sms;
  const std::vector<int64_t> order = first.in_order();
  const auto width = static_cast<int64_t>(along_x.size());
  for (int64_t cta = 0; cta < ctas; ++cta) {
    Place next{0, 0};
    if (cta < static_cast<int64_t>(order.size())) {
      next.second = order[static_cast<size_t>(cta)];
    } else {
      next = places.top();
      places.pop();
    }
    const auto [free, place] = next;
    const double ends = free + along_x[static_cast<size_t>(cta % width)];
    places.emplace(ends, place);
    take(PlacedCta{cta, place % sms, place / sms, free, ends});
  }
}

}  // namespace attnscope::model
