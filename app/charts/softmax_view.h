#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/softmax_steps.h"

namespace attnscope::charts {

// "12.3 x 0.449 + 8.1 = 13.6": the previous l, the factor, what the tile adds, and the new l. Empty if there is no such
// tile.
std::string sum_text(const SoftmaxSteps& steps, size_t tile);
// A value that the kernel held: "5.03", "-inf".
std::string value_text(double value);

// What A held of the same row when it had taken the same keys as B after one of its tiles.
struct SoftmaxGhost {
  std::optional<size_t> tile;  // A's tile; empty: none of A's tiles ends at these keys
  int64_t keys = 0;            // that B has taken
  double m = 0, l = 0;         // after A's tile; m in B's unit
  // A's values at the keys of B's tile and at its columns of O, as far as they are known. Weights depend on m, so they
  // are empty unless A's tile has the same keys; so is O unless A's tile ends at the same key.
  std::span<const float> scores, weights, o;
};
// Empty if the steps are of another row, or B has no such tile. The spans are A's.
std::optional<SoftmaxGhost> softmax_ghost(const SoftmaxSteps& a, const SoftmaxSteps& b, size_t tile);
// "A: m 3, l 1.25", "A: no tile ends at 48 keys".
std::string ghost_text(const SoftmaxGhost& ghost);

}  // namespace attnscope::charts
