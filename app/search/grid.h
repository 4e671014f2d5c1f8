#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace attnscope::search {

// Points that each have a position on every axis. A position need not have a point.
class Grid {
 public:
  Grid() = default;
  explicit Grid(std::vector<std::vector<size_t>> points);

  size_t size() const { return points_.size(); }
  const std::vector<size_t>& at(size_t point) const { return points_.at(point); }
  const std::vector<size_t>& extents() const { return extents_; }  // number of positions on each axis
  std::optional<size_t> find(const std::vector<size_t>& positions) const;
  // The points that differ from `point` on exactly one axis, ordered by axis.
  std::vector<size_t> neighbours(size_t point) const;
  // The nearest point further up or down one axis; skips positions without a point.
  std::optional<size_t> beyond(size_t point, size_t axis, bool up) const;

 private:
  std::vector<std::vector<size_t>> points_;
  std::vector<size_t> extents_;
  std::map<std::vector<size_t>, size_t> by_position_;
};

}  // namespace attnscope::search
