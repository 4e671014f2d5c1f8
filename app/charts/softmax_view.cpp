#include "charts/softmax_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/with_commas.h"

namespace attnscope::charts {
namespace {

// How many of the row's keys a kernel has taken after a tile.
int64_t keys_after(const SoftmaxSteps& steps, size_t tile) {
  return std::min((static_cast<int64_t>(tile) + 1) * steps.keys, steps.visible);
}

// The scores of keys [first, first + count), as far as they are known.
std::span<const float> scores_from(const SoftmaxSteps& steps, int64_t first, int64_t count) {
  const auto known = static_cast<int64_t>(steps.scores.size());
  if (first >= known) return {};
  return std::span(steps.scores)
      .subspan(static_cast<size_t>(first), static_cast<size_t>(std::min(count, known - first)));
}

}  // namespace

std::string value_text(double value) { return fmt::format("{:.4g}", value); }

std::string sum_text(const SoftmaxSteps& steps, size_t tile) {
  if (tile >= steps.steps()) return "";
  const SoftmaxTile one = tiles_of(steps)[tile];
  return fmt::format("{} x {} + {} = {}", value_text(tile == 0 ? 0 : double(steps.l[tile - 1])), value_text(one.factor),
                     value_text(one.added), value_text(double(one.l)));
}

std::optional<SoftmaxGhost> softmax_ghost(const SoftmaxSteps& a, const SoftmaxSteps& b, size_t tile) {
  if (!(a.row == b.row) || tile >= b.steps()) return std::nullopt;
  SoftmaxGhost ghost;
  ghost.keys = keys_after(b, tile);
  const int64_t first = static_cast<int64_t>(tile) * b.keys;
  ghost.scores = scores_from(a, first, b.keys);
  for (size_t at = 0; at < a.steps() && !ghost.tile; ++at)
    if (keys_after(a, at) == ghost.keys) ghost.tile = at;
  if (!ghost.tile) return ghost;
  ghost.m = double(a.m[*ghost.tile]) / a.unit * b.unit;
  ghost.l = double(a.l[*ghost.tile]);
  if (static_cast<int64_t>(*ghost.tile) * a.keys == first) ghost.weights = weights_of(a, *ghost.tile);
  if (a.head_dim == b.head_dim) ghost.o = o_of(a, *ghost.tile);
  return ghost;
}

std::string ghost_text(const SoftmaxGhost& ghost) {
  if (!ghost.tile) return "A: no tile ends at " + with_commas(ghost.keys) + " keys";
  return fmt::format("A: m {}, l {}", value_text(ghost.m), value_text(ghost.l));
}

}  // namespace attnscope::charts
