#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/grid.h"

namespace attnscope::search {

// The positions of a grid's points in one block, as learners read them, and `more` axes that the grid does not have,
// all 0 until they are set.
class Places {
 public:
  explicit Places(const Grid& grid, size_t more = 0);

  size_t points() const { return points_; }
  size_t axes() const { return axes_; }
  const uint32_t* of(size_t point) const { return &positions_[point * axes_]; }  // a position for each axis
  void set(size_t point, size_t axis, uint32_t position) { positions_[point * axes_ + axis] = position; }

 private:
  size_t points_, axes_;
  std::vector<uint32_t> positions_;
};

}  // namespace attnscope::search
