#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/fragment.h"
#include "core/listing.h"

namespace attnscope::charts {

// A matrix of an instruction as cells; a cell holds the neighbouring elements that one lane has. C and D have the same
// layout and share a grid.
struct FragmentGrid {
  std::vector<MatrixFragment> of;                    // one matrix, or C and D
  std::string title;                                 // "A  16 x 16 of 16 bits"
  std::vector<std::string> where;                    // for each of them: "A in R8 to R11"
  std::vector<std::string> row_names, column_names;  // "0", or "0-1" if a cell has more than one
  std::vector<FragmentPlace> cells;                  // location of each cell's first element, row by row
  const FragmentPlace& cell(size_t row, size_t column) const { return cells[row * column_names.size() + column]; }
};
std::vector<FragmentGrid> fragment_grids(const std::vector<MatrixFragment>& fragments);

// The cell's registers in that matrix: "R8", or "R8, R9" for both elements of a pair of 32 bits, or "RZ".
std::string registers_text(const MatrixFragment& of, const FragmentPlace& cell);
// How many registers a cell takes.
int64_t registers_per_cell(const MatrixFragment& of);

// One register of a lane, or two that hold a 64-bit element.
struct HeldRegister {
  int64_t reg = 0;   // relative to the fragment's first register
  std::string text;  // "R8 (1, 6) (1, 7)": the register and its elements, lowest bits first
};
std::vector<HeldRegister> held_registers(const MatrixFragment& of, uint32_t lane);

// Indices of the instructions that have fragments.
std::vector<int64_t> with_fragments(const Listing& listing);
// Explains where LDSM's rows come from, and what MOVM's D is; empty for a product.
std::string fragment_note(const std::vector<MatrixFragment>& fragments);

}  // namespace attnscope::charts
