#pragma once
#include <cstdint>
#include <vector>

#include "core/problem.h"
#include "core/softmax_steps.h"

namespace attnscope::check {

// An online softmax of one query row in fp64, over the same inputs that a kernel gets: the running maximum of the
// scores scale·q·k and the sum of exp(score - maximum), after each tile of `keys` keys. Both lists have `steps`
// entries. Tiles beyond the keys that the row may see change nothing; before the first visible key the values are
// -infinity and 0.
struct ExactSoftmax {
  std::vector<double> m, l;
};
ExactSoftmax exact_softmax(const Problem& problem, const SoftmaxRow& row, int64_t keys, size_t steps);

}  // namespace attnscope::check
