#pragma once
#include <string>

#include "core/softmax_steps.h"

namespace attnscope::charts {

// "12.3 x 0.449 + 8.1 = 13.6": l before, the factor, what the tile adds, l. Empty: there is no such tile.
std::string sum_text(const SoftmaxSteps& steps, size_t tile);
// "5.03", "-inf": a value that the kernel held.
std::string value_text(double value);

}  // namespace attnscope::charts
