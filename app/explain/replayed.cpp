#include "explain/replayed.h"

#include <algorithm>

#include "core/shared_layout.h"

namespace attnscope::explain {
namespace {

double conflicts_of(const SharedAccess& access) {
  const Wavefronts one = wavefronts_of(access);
  return std::max(0, one.taken - one.needed);
}

struct Sums {
  int64_t padding = 0;
  double taken = 0, recorded = 0, padded = 0, swizzled = 0;
  bool rows = false;  // an access with conflicts shows rows

  // `times`: executions of that shape. Without rows, the layout leaves it as it is.
  void add(const SharedAccess& access, double times) {
    const double now = conflicts_of(access);
    const int64_t row = row_bytes(access);
    const auto left = [&](const SharedLayout& layout) {
      return row > 0 ? conflicts_of(relaid(access, row, lowest_byte(access), layout)) : now;
    };
    taken += times * wavefronts_of(access).taken;
    recorded += times * now;
    padded += times * left({.padding = padding, .swizzle = false});
    swizzled += times * left(kSwizzledRows);
    rows |= row > 0 && now > 0;
  }
};

}  // namespace

int64_t row_alignment(const std::map<uint32_t, SharedSteps>& shared) {
  int64_t widest = 4;  // a bank's word
  for (const auto& [index, steps] : shared)
    for (const SharedAccess& one : steps.shapes)
      widest = std::max(widest, one.use == SharedUse::matrices ? kPaddedRows.padding : one.bytes);
  return widest;
}

std::optional<Replayed> replayed(const Facts& facts) {
  if (facts.shared == nullptr) return std::nullopt;
  const int64_t padding = row_alignment(*facts.shared);
  double recorded = 0, padded = 0, swizzled = 0;
  bool rows = false;
  for (const auto& [index, steps] : *facts.shared) {
    std::vector<double> times(steps.shapes.size());
    for (const SharedStep& step : steps.steps) ++times[size_t(step.shape)];
    Sums one{padding};
    for (size_t i = 0; i < times.size(); ++i) one.add(steps.shapes[i], times[i]);
    if (one.taken <= 0) continue;
    const double all = facts.code.at(index).wavefronts / one.taken;  // executions, for each recorded one
    recorded += all * one.recorded;
    padded += all * one.padded;
    swizzled += all * one.swizzled;
    rows |= one.rows;
  }
  if (!rows || recorded <= 0) return std::nullopt;
  return Replayed{padding, padded / recorded, swizzled / recorded};
}

}  // namespace attnscope::explain
