#pragma once
#include <optional>

#include "explain/facts.h"

namespace attnscope::explain {

// Which share of the bank conflicts is left if the rows that the recorded accesses show are laid out in another way.
struct Replayed {
  int64_t padding = 0;  // bytes behind each row
  double padded = 1, swizzled = 1;
};
// Empty: nothing was recorded, or no access with conflicts shows rows.
std::optional<Replayed> replayed(const Facts& facts);

}  // namespace attnscope::explain
