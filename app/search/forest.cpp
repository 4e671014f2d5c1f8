#include "search/forest.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace attnscope::search {

struct Forest::Rows {
  const Places& places;
  const std::vector<size_t>& points;
  const std::vector<double>& values;
  std::vector<size_t> order = {};  // a node has a part of it

  uint32_t at(size_t row, size_t axis) const { return places.of(points[row])[axis]; }
};

namespace {

struct Cut {
  size_t axis = 0;
  uint32_t from = 0;
  double gain = 0;  // sums of squares of the two parts' means, by their counts: the more, the less is left within them
};

}  // namespace

void Forest::learn(const std::vector<size_t>& points, const std::vector<double>& values, Random& random) {
  next_ = 0;
  said_.resize(places_.points() * trees_.size());
  renew(trees_.size(), points, values, random);
}

void Forest::renew(size_t some, const std::vector<size_t>& points, const std::vector<double>& values, Random& random) {
  Rows rows{places_, points, values};
  for (size_t renewed = 0; renewed < some; ++renewed) {
    Tree& tree = trees_[next_];
    rows.order.resize(values.size());
    std::iota(rows.order.begin(), rows.order.end(), size_t{0});
    tree.assign(1, Node{});
    split(tree, 0, 0, values.size(), rows, random);
    read(next_);
    next_ = (next_ + 1) % trees_.size();
  }
}

// Each axis on which the rows differ is cut once at random, and the best of these cuts is made.
void Forest::split(Tree& tree, size_t node, size_t begin, size_t end, Rows& rows, Random& random) {
  const auto count = static_cast<double>(end - begin);
  double sum = 0;
  for (size_t at = begin; at < end; ++at) sum += rows.values[rows.order[at]];
  tree[node].value = static_cast<float>(sum / count);
  std::optional<Cut> best;
  for (size_t axis = 0; axis < rows.places.axes(); ++axis) {
    uint32_t low = UINT32_MAX, high = 0;
    for (size_t at = begin; at < end; ++at) {
      low = std::min(low, rows.at(rows.order[at], axis));
      high = std::max(high, rows.at(rows.order[at], axis));
    }
    if (low == high) continue;
    Cut cut{axis, low + 1 + static_cast<uint32_t>(random.below(high - low)), 0};
    double beyond = 0, beyond_count = 0;
    for (size_t at = begin; at < end; ++at)
      if (rows.at(rows.order[at], axis) >= cut.from) {
        beyond += rows.values[rows.order[at]];
        ++beyond_count;
      }
    cut.gain = beyond * beyond / beyond_count + (sum - beyond) * (sum - beyond) / (count - beyond_count);
    if (!best || cut.gain > best->gain) best = cut;
  }
  if (!best) return;  // all at one place
  const auto part = rows.order.begin();
  const auto middle = std::partition(part + static_cast<std::ptrdiff_t>(begin), part + static_cast<std::ptrdiff_t>(end),
                                     [&](size_t row) { return rows.at(row, best->axis) < best->from; });
  const auto between = static_cast<size_t>(middle - part);
  const size_t first = tree.size();
  tree[node].axis = static_cast<uint32_t>(best->axis);
  tree[node].from = best->from;
  tree[node].first = static_cast<uint32_t>(first);
  tree.resize(first + 2);
  split(tree, first, begin, between, rows, random);
  split(tree, first + 1, between, end, rows, random);
}

void Forest::read(size_t tree) {
  const Node* root = trees_[tree].data();
  for (size_t point = 0; point < places_.points(); ++point) {
    const uint32_t* at = places_.of(point);
    const Node* node = root;
    while (node->axis != Node::kLeaf) node = root + node->first + (at[node->axis] >= node->from ? 1 : 0);
    said_[point * trees_.size() + tree] = node->value;
  }
}

void Forest::read_again() {
  for (size_t tree = 0; tree < trees_.size() && has_learnt(); ++tree) read(tree);
}

Prediction Forest::predict(size_t point) const {
  double sum = 0, squares = 0;
  for (size_t tree = 0; tree < trees_.size(); ++tree) {
    const double value = said_[point * trees_.size() + tree];
    sum += value;
    squares += value * value;
  }
  const auto count = static_cast<double>(trees_.size());
  const double mean = sum / count;
  return {mean, std::sqrt(std::max(0.0, squares / count - mean * mean))};
}

}  // namespace attnscope::search
