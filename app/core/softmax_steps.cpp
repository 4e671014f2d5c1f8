#include "core/softmax_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attnscope {
namespace {

std::span<const float> part_of(const std::vector<float>& list, size_t tile, int64_t size) {
  if (list.empty()) return {};
  return std::span(list).subspan(tile * static_cast<size_t>(size), static_cast<size_t>(size));
}

}  // namespace

std::span<const float> scores_of(const SoftmaxSteps& steps, size_t tile) {
  return part_of(steps.scores, tile, steps.keys);
}
std::span<const float> weights_of(const SoftmaxSteps& steps, size_t tile) {
  return part_of(steps.weights, tile, steps.keys);
}
std::span<const float> o_of(const SoftmaxSteps& steps, size_t tile) { return part_of(steps.o, tile, steps.head_dim); }

std::vector<SoftmaxTile> tiles_of(const SoftmaxSteps& steps) {
  std::vector<SoftmaxTile> tiles;
  for (size_t at = 0; at < steps.steps(); ++at) {
    SoftmaxTile& tile = tiles.emplace_back();
    const int64_t first = static_cast<int64_t>(at) * steps.keys;
    tile.first_key = std::min(first, steps.visible);
    tile.end_key = std::min(first + steps.keys, steps.visible);
    tile.m = steps.m[at], tile.l = steps.l[at];
    tile.exact_m = steps.exact_m[at], tile.exact_l = steps.exact_l[at];
    const std::span<const float> scores = scores_of(steps, at);
    tile.largest = scores.empty() ? std::numeric_limits<float>::quiet_NaN() : *std::ranges::max_element(scores);
    const float before = at == 0 ? -std::numeric_limits<float>::infinity() : steps.m[at - 1];
    tile.raised = tile.m > before;
    // The difference of two infinities is NaN, and a row that has seen no key yet has nothing to scale.
    if (tile.raised) tile.factor = std::exp((double(before) - double(tile.m)) / steps.unit);
    tile.added = double(tile.l) - (at == 0 ? 0.0 : double(steps.l[at - 1]) * tile.factor);
  }
  return tiles;
}

bool has_all_tiles(const SoftmaxSteps& steps) {
  return static_cast<int64_t>(steps.steps()) * steps.keys >= steps.visible;
}

std::string row_text(const SoftmaxRow& row) {
  return "batch " + std::to_string(row.batch) + ", head " + std::to_string(row.head) + ", row " +
         std::to_string(row.row);
}

}  // namespace attnscope
