#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/fragment.h"
#include "core/listing.h"

namespace attnscope::charts {

// A matrix of an instruction as cells: a cell is the neighbouring elements that one lane holds. C and D, which lie
// alike, are one grid.
struct FragmentGrid {
  std::vector<MatrixFragment> of;                    // one, or C and D
  std::string title;                                 // "A  16 x 16 of 16 bits"
  std::vector<std::string> where;                    // of each of them: "A in R8 to R11"
  std::vector<std::string> row_names, column_names;  // "0", or "0-1" where a cell has more than one
  std::vector<FragmentPlace> cells;                  // of a cell's first element, row by row
  const FragmentPlace& cell(size_t row, size_t column) const { return cells[row * column_names.size() + column]; }
};
std::vector<FragmentGrid> fragment_grids(const std::vector<MatrixFragment>& fragments);

// "R8", or "R8, R9" for both elements of a pair of 32 bits; "RZ". Of the cell's registers in that matrix.
std::string registers_text(const MatrixFragment& of, const FragmentPlace& cell);
// How many registers a cell takes.
int64_t registers_per_cell(const MatrixFragment& of);

// One register of a lane, or two that hold an element of 64 bits.
struct HeldRegister {
  int64_t reg = 0;   // counted from the fragment's first
  std::string text;  // "R8 (1, 6) (1, 7)": its elements, lowest bits first
};
std::vector<HeldRegister> held_registers(const MatrixFragment& of, uint32_t lane);

// Instructions with fragments, by their index in the listing.
std::vector<int64_t> with_fragments(const Listing& listing);
// Where LDSM's rows come from, and what MOVM's D is; empty for a product.
std::string fragment_note(const std::vector<MatrixFragment>& fragments);

}  // namespace attnscope::charts
