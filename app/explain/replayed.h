#pragma once
#include <optional>

#include "explain/facts.h"

namespace attnscope::explain {

// The bytes that a row's length must be a multiple of, so that the widest recorded access stays aligned; at least a
// bank's word.
int64_t row_alignment(const std::map<uint32_t, SharedSteps>& shared);

// Which share of the bank conflicts is left if the rows that the recorded accesses show are laid out in another way.
struct Replayed {
  int64_t padding = 0;  // bytes behind each row
  double padded = 1, swizzled = 1;
};
// Empty: nothing was recorded, or no access with conflicts shows rows.
std::optional<Replayed> replayed(const Facts& facts);

}  // namespace attnscope::explain
