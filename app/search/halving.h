#pragma once
#include <cstdint>
#include <vector>

#include "search/grid.h"
#include "search/history.h"

namespace attnscope::search {

// Successive halving over samples (Jamieson and Talwalkar 2016): every point is timed for a short while, then the
// better half for twice as long, and so on; the last round is timed like any sweep.

// The time limit of each round per point, ms. The last one is `most`. Starts with `least` and doubles as long as there
// are points to halve and it is at most half of `most`.
std::vector<int64_t> halving_rounds(size_t points, int64_t least, int64_t most);

// The points of the next round: the faster half of the timed ones, rounded up, and all that cannot be told apart from
// the last of that half (without `told_apart`, only equal times). Fastest first; equal times keep their order. Rejected
// points are left out.
std::vector<size_t> better_half(const std::vector<Outcome>& outcomes, const ToldApart& told_apart);

// The points of round 0: all of the grid in order, or `most` random ones (0: all).
std::vector<size_t> entrants(const Grid& grid, uint64_t seed, size_t most);

}  // namespace attnscope::search
