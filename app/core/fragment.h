#pragma once
#include <cstdint>
#include <vector>

#include "core/words.h"

namespace attnscope {

// The operands of D = A·B + C; what a load of matrices gives is its D.
enum class MatrixName { a, b, c, d };
template <>
struct Words<MatrixName> {
  static constexpr WordTable<MatrixName, 4> table{
      {{MatrixName::a, "A"}, {MatrixName::b, "B"}, {MatrixName::c, "C"}, {MatrixName::d, "D"}}};
};

// A matrix as the lanes of a warp hold it in their registers: an operand of a Tensor Core's product, or what LDSM
// loads. Four lanes share a line of it: a row or, `by_columns`, a column. Lane l holds line l/4 of every eight, and
// there `run` neighbours of every 4·run. The PTX ISA draws each of these layouts ("Matrix fragments" of mma, ldmatrix).
struct MatrixFragment {
  static constexpr int64_t kZero = -1;  // for `first`: RZ, no registers
  static constexpr int64_t kMost = 32;  // rows and columns
  MatrixName matrix = MatrixName::a;
  int64_t rows = 0, columns = 0;
  int64_t bits = 16;  // of an element
  int64_t run = 2;    // neighbouring elements that a lane holds
  bool by_columns = false;
  int64_t first = kZero;  // number of its first register
  bool operator==(const MatrixFragment&) const = default;
};

// Where one element is.
struct FragmentPlace {
  uint32_t lane = 0;
  uint32_t reg = 0;  // counted from the fragment's first; an element of 64 bits begins there
  uint32_t bit = 0;  // its lowest in the register
  bool operator==(const FragmentPlace&) const = default;
};

// `row` and `column` must lie in the matrix. Registers count first through the groups of eight lines, then along them.
constexpr FragmentPlace place_of(const MatrixFragment& of, int64_t row, int64_t column) {
  const int64_t line = of.by_columns ? column : row, along = of.by_columns ? row : column;
  const int64_t lines = of.by_columns ? of.columns : of.rows;
  const int64_t block = line / 8 + lines / 8 * (along / (4 * of.run));
  const int64_t bit = (block * of.run + along % of.run) * of.bits;
  return {uint32_t(line % 8 * 4 + along / of.run % 4), uint32_t(bit / 32), uint32_t(bit % 32)};
}

// Registers of each lane.
constexpr int64_t registers_of(const MatrixFragment& of) { return of.rows * of.columns * of.bits / (32 * 32); }

// Whether every lane holds equally much, so that place_of() is meant for it.
bool is_whole(const MatrixFragment& of);
// The same layout, whichever matrix and registers.
bool alike(const MatrixFragment& a, const MatrixFragment& b);

// An element that a lane holds.
struct HeldElement {
  int64_t row = 0, column = 0;
  FragmentPlace place{};
};
// What lane 0…31 holds, by register, lowest bits first.
std::vector<HeldElement> held_by(const MatrixFragment& of, uint32_t lane);

}  // namespace attnscope
