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

// The first of `points` that it does not have join it until it has `size`.
void add(std::vector<size_t>& batch, size_t size, const std::vector<size_t>& points);

// Untried points join it until it has `size`: first those of `wanted`, then random ones.
void fill(std::vector<size_t>& batch, size_t size, const Grid& grid, const History& history, Random& random,
          const std::vector<size_t>& wanted = {});

// Adds points until it has `size`: the first of `wanted`, or a random one. The more batches brought no accepted best,
// the more often it is random, up to one point of `one_in`.
void fill_warily(std::vector<size_t>& batch, size_t size, const Grid& grid, const History& history, Random& random,
                 const std::vector<size_t>& wanted, size_t without_best, size_t one_in);

// Untried points that differ in one knob from one of the fastest `most`.
std::vector<size_t> near_the_fastest(const Grid& grid, const History& history, size_t most);
// The next values up and down of the fastest point that has any which was not tried; it looks at `most`.
std::vector<size_t> next_to_the_fastest(const Grid& grid, const History& history, size_t most);

// The next point that way that was not rejected.
std::optional<size_t> sound_beyond(const Grid& grid, const History& history, size_t point, size_t axis, bool up);

}  // namespace attnscope::search
