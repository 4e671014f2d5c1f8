#pragma once
#include <optional>
#include <vector>

#include "search/grid.h"
#include "search/history.h"
#include "search/random.h"

// What strategies share in making a batch of points.
namespace attnscope::search {

std::vector<size_t> all_points(const Grid& grid);
std::vector<size_t> untried(const std::vector<size_t>& points, const History& history);
bool is_in(const std::vector<size_t>& points, size_t point);

// How many rounds have passed without a newly accepted best; `best` is the last one seen. Outcomes before `first` do
// not count.
void count_round(const History& history, std::optional<size_t>& best, size_t& without_best, size_t first = 0);

// Untried points join it until it has `size`: first those of `wanted`, then random ones.
void fill(std::vector<size_t>& batch, size_t size, const Grid& grid, const History& history, Random& random,
          const std::vector<size_t>& wanted = {});

// The next point that way that was not rejected.
std::optional<size_t> sound_beyond(const Grid& grid, const History& history, size_t point, size_t axis, bool up);

}  // namespace attnscope::search
