#include "search/grid.h"

#include <algorithm>

namespace attnscope::search {

Grid::Grid(std::vector<std::vector<size_t>> points) : points_(std::move(points)) {
  for (size_t point = 0; point < points_.size(); ++point) {
    const std::vector<size_t>& at = points_[point];
    extents_.resize(std::max(extents_.size(), at.size()));
    for (size_t axis = 0; axis < at.size(); ++axis) extents_[axis] = std::max(extents_[axis], at[axis] + 1);
    by_position_.emplace(at, point);
  }
}

std::optional<size_t> Grid::find(const std::vector<size_t>& positions) const {
  const auto found = by_position_.find(positions);
  return found == by_position_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<size_t> Grid::neighbours(size_t point) const {
  std::vector<size_t> found;
  std::vector<size_t> positions = at(point);
  for (size_t axis = 0; axis < positions.size(); ++axis) {
    const size_t own = positions[axis];
    for (positions[axis] = 0; positions[axis] < extents_[axis]; ++positions[axis])
      if (positions[axis] != own)
        if (const auto other = find(positions)) found.push_back(*other);
    positions[axis] = own;
  }
  return found;
}

std::optional<size_t> Grid::beyond(size_t point, size_t axis, bool up) const {
  std::vector<size_t> positions = at(point);
  size_t& position = positions[axis];
  while (up ? position + 1 < extents_[axis] : position > 0) {
    position = up ? position + 1 : position - 1;
    if (const auto found = find(positions)) return found;
  }
  return std::nullopt;
}

}  // namespace attnscope::search
