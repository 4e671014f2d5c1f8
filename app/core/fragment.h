#pragma once
#include <cstdint>
#include <vector>

#include "core/words.h"

namespace attnscope {

// The operands of D = A·B + C. The matrices that LDSM loads count as D.
enum class MatrixName { a, b, c, d };
template <>
struct Words<MatrixName> {
  static constexpr WordTable<MatrixName, 4> table{
      {{MatrixName::a, "A"}, {MatrixName::b, "B"}, {MatrixName::c, "C"}, {MatrixName::d, "D"}}};
};

// How the lanes of a warp hold a matrix in their registers: an operand of a Tensor Core product, or what LDSM loads.
// Four lanes share a line, which is a row or, with `by_columns`, a column. Lane l holds line l/4 of every eight lines,
// and in it `run` neighbouring elements of every 4·run. The PTX ISA draws each of these layouts ("Matrix fragments" of
// mma, ldmatrix).
struct MatrixFragment {
  static constexpr int64_t kZero = -1;  // value of `first` for RZ: no registers
  static constexpr int64_t kMost = 32;  // of rows and of columns
  MatrixName matrix = MatrixName::a;
  int64_t rows = 0, columns = 0;
  int64_t bits = 16;  // of an element
  int64_t run = 2;    // neighbouring elements that a lane holds
  bool by_columns = false;
  int64_t first = kZero;  // number of its first register
  bool operator==(const MatrixFragment&) const = default;
};

// The location of one element.
struct FragmentPlace {
  uint32_t lane = 0;
  uint32_t reg = 0;  // relative to the fragment's first register; the lower one for an element of 64 bits
  uint32_t bit = 0;  // its lowest bit in the register
  bool operator==(const FragmentPlace&) const = default;
};

// `row` and `column` must lie in the matrix. Registers are numbered through the groups of eight lines first, then along
// the lines.
constexpr FragmentPlace place_of(const MatrixFragment& of, int64_t row, int64_t column) {
  const int64_t line = of.by_columns ? column : row, along = of.by_columns ? row : column;
  const int64_t lines = of.by_columns ? of.columns : of.rows;
  const int64_t block = line / 8 + lines / 8 * (along / (4 * of.run));
  const int64_t bit = (block * of.run + along % of.run) * of.bits;
  return {uint32_t(line % 8 * 4 + along / of.run % 4), uint32_t(bit / 32), uint32_t(bit % 32)};
}

// Registers per lane.
constexpr int64_t registers_of(const MatrixFragment& of) { return of.rows * of.columns * of.bits / (32 * 32); }

// True if every lane holds the same number of elements, which place_of() requires.
bool is_whole(const MatrixFragment& of);
// True if the layouts are equal; the matrix names and registers may differ.
bool alike(const MatrixFragment& a, const MatrixFragment& b);

// An element that a lane holds.
struct HeldElement {
  int64_t row = 0, column = 0;
  FragmentPlace place{};
};
// The elements of one lane (0…31), ordered by register, lowest bits first.
std::vector<HeldElement> held_by(const MatrixFragment& of, uint32_t lane);

}  // namespace attnscope
