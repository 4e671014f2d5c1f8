#pragma once
#include <string>

#include "core/softmax_steps.h"

namespace attnscope::charts {

// "12.3 x 0.449 + 8.1 = 13.6": the previous l, the factor, what the tile adds, and the new l. Empty if there is no such
// tile.
std::string sum_text(const SoftmaxSteps& steps, size_t tile);
// A value that the kernel held: "5.03", "-inf".
std::string value_text(double value);

}  // namespace attnscope::charts
