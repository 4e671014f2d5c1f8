#include "search/places.h"

namespace attnscope::search {

Places::Places(const Grid& grid, size_t more) : points_(grid.size()), axes_(grid.extents().size() + more) {
  positions_.reserve(points_ * axes_);
  for (size_t point = 0; point < points_; ++point) {
    for (const size_t position : grid.at(point)) positions_.push_back(static_cast<uint32_t>(position));
    positions_.resize((point + 1) * axes_);
  }
}

}  // namespace attnscope::search
