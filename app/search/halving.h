#pragma once
#include <cstdint>
#include <vector>

#include "search/grid.h"
#include "search/history.h"

namespace attnscope::search {

// Successive halving over samples (Jamieson and Talwalkar 2016): every point is timed for a short while, the better
// half again for twice as long, and so on; the last round is timed as a sweep times.

// How long each round may time a point, ms, the last one `most`: `least`, doubled as long as there are points to halve
// and it is at most half of `most`.
std::vector<int64_t> halving_rounds(size_t points, int64_t least, int64_t most);

// The points that go on: the faster half of the timed ones, rounded up, and all that cannot be told apart from the last
// of that half (without `told_apart` only equal times). Fastest first, of equal times as told; rejected ones are not
// among them.
std::vector<size_t> better_half(const std::vector<Outcome>& outcomes, const ToldApart& told_apart);

// The points of round 0: all of the grid, in order, or `most` random ones (0: all).
std::vector<size_t> entrants(const Grid& grid, uint64_t seed, size_t most);

}  // namespace attnscope::search
