#pragma once
#include <cstdint>
#include <vector>

#include "core/term.h"

namespace attnscope::model {

// Time that belongs to one term. `producer` carries it: the instruction that `consumer` waits for, or `consumer` itself
// if it issues. Both index KernelSchedule::code.
struct Stall {
  static constexpr uint32_t kNone = UINT32_MAX;  // no instruction carries it
  TermKind term = TermKind::other;
  uint32_t producer = kNone, consumer = kNone;
  double time = 0;  // clocks of an SM, or microseconds
  bool operator==(const Stall&) const = default;
};

inline double sum_of(const std::vector<Stall>& stalls) {
  double sum = 0;
  for (const Stall& stall : stalls) sum += stall.time;
  return sum;
}

}  // namespace attnscope::model
