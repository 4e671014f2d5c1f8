#include "core/fragment.h"

#include <algorithm>
#include <utility>

namespace attnscope {

bool is_whole(const MatrixFragment& of) {
  const int64_t lines = of.by_columns ? of.columns : of.rows, along = of.by_columns ? of.rows : of.columns;
  const bool bits = of.bits == 4 || of.bits == 8 || of.bits == 16 || of.bits == 32 || of.bits == 64;
  const bool sizes = lines > 0 && lines % 8 == 0 && of.run > 0 && along > 0 && along % (4 * of.run) == 0;
  return bits && sizes && of.run * of.bits % 32 == 0;
}

bool alike(const MatrixFragment& a, const MatrixFragment& b) {
  MatrixFragment same = b;
  same.matrix = a.matrix;
  same.first = a.first;
  return same == a;
}

std::vector<HeldElement> held_by(const MatrixFragment& of, uint32_t lane) {
  std::vector<HeldElement> held;
  for (int64_t row = 0; row < of.rows; ++row)
    for (int64_t column = 0; column < of.columns; ++column)
      if (const FragmentPlace place = place_of(of, row, column); place.lane == lane)
        held.push_back({row, column, place});
  std::ranges::sort(held, {}, [](const HeldElement& one) { return std::pair(one.place.reg, one.place.bit); });
  return held;
}

}  // namespace attnscope
