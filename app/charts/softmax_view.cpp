#include "charts/softmax_view.h"

#include <fmt/format.h>

namespace attnscope::charts {

std::string value_text(double value) { return fmt::format("{:.4g}", value); }

std::string sum_text(const SoftmaxSteps& steps, size_t tile) {
  if (tile >= steps.steps()) return "";
  const SoftmaxTile one = tiles_of(steps)[tile];
  return fmt::format("{} x {} + {} = {}", value_text(tile == 0 ? 0 : double(steps.l[tile - 1])), value_text(one.factor),
                     value_text(one.added), value_text(double(one.l)));
}

}  // namespace attnscope::charts
