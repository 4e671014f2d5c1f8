#include "charts/fragment_grid.h"

#include <fmt/format.h>

#include "core/joined.h"

namespace attnscope::charts {
namespace {

std::string register_name(const MatrixFragment& of, int64_t index) {
  return of.first == MatrixFragment::kZero ? "RZ" : code_value::name(int(of.first + index));
}

// "R8", or "R8 to R11".
std::string register_range(const MatrixFragment& of) {
  const int64_t last = registers_of(of) - 1;
  if (of.first == MatrixFragment::kZero) return "RZ: zeros";
  return last == 0 ? register_name(of, 0) : register_name(of, 0) + " to " + register_name(of, last);
}

std::vector<std::string> names(int64_t count, int64_t run) {
  std::vector<std::string> all;
  for (int64_t at = 0; at < count; at += run)
    all.push_back(run == 1 ? std::to_string(at) : fmt::format("{}-{}", at, at + run - 1));
  return all;
}

std::string name_of(const MatrixFragment& of) { return std::string(to_string(of.matrix)); }

FragmentGrid grid_of(const MatrixFragment& of) {
  FragmentGrid grid;
  grid.of = {of};
  const int64_t rows = of.by_columns ? of.run : 1, columns = of.by_columns ? 1 : of.run;
  grid.row_names = names(of.rows, rows);
  grid.column_names = names(of.columns, columns);
  for (int64_t row = 0; row < of.rows; row += rows)
    for (int64_t column = 0; column < of.columns; column += columns) grid.cells.push_back(place_of(of, row, column));
  return grid;
}

}  // namespace

std::vector<FragmentGrid> fragment_grids(const std::vector<MatrixFragment>& fragments) {
  std::vector<FragmentGrid> grids;
  for (const MatrixFragment& of : fragments) {
    const bool with_c = of.matrix == MatrixName::d && !grids.empty() &&
                        grids.back().of.front().matrix == MatrixName::c && alike(grids.back().of.front(), of);
    if (with_c)
      grids.back().of.push_back(of);
    else
      grids.push_back(grid_of(of));
  }
  for (FragmentGrid& grid : grids) {
    const MatrixFragment& of = grid.of.front();
    grid.title = fmt::format("{}  {} x {} of {} bits", joined(grid.of, name_of), of.rows, of.columns, of.bits);
    for (const MatrixFragment& one : grid.of) grid.where.push_back(name_of(one) + " in " + register_range(one));
  }
  return grids;
}

int64_t registers_per_cell(const MatrixFragment& of) { return of.run * of.bits / 32; }

std::string registers_text(const MatrixFragment& of, const FragmentPlace& cell) {
  if (of.first == MatrixFragment::kZero) return "RZ";
  std::string text = register_name(of, cell.reg);
  for (int64_t more = 1; more < registers_per_cell(of); ++more) text += ", " + register_name(of, cell.reg + more);
  return text;
}

std::vector<HeldRegister> held_registers(const MatrixFragment& of, uint32_t lane) {
  std::vector<HeldRegister> held;
  for (const HeldElement& one : held_by(of, lane)) {
    const int64_t reg = one.place.reg;
    if (held.empty() || held.back().reg != reg) {
      const bool pair = of.bits == 64 && of.first != MatrixFragment::kZero;
      held.push_back({reg, register_name(of, reg) + (pair ? ", " + register_name(of, reg + 1) : "")});
    }
    held.back().text += fmt::format(" ({}, {})", one.row, one.column);
  }
  return held;
}

std::vector<int64_t> with_fragments(const Listing& listing) {
  std::vector<int64_t> all;
  for (size_t at = 0; at < listing.lines.size(); ++at)
    if (!listing.lines[at].fragments.empty()) all.push_back(int64_t(at));
  return all;
}

std::string fragment_note(const std::vector<MatrixFragment>& fragments) {
  if (fragments.empty() || fragments.back().matrix != MatrixName::d || fragments.size() > 2) return "";
  if (fragments.size() == 2) return "D has A's elements, transposed: its grid shows where each of them is afterwards.";
  const int64_t matrices = fragments[0].rows / 8;
  return "Row r is the 16 bytes of shared memory at lane r's address" +
         (matrices == 1 ? std::string(".") : fmt::format(": {} matrices of 8 x 8, one below the other.", matrices));
}

}  // namespace attnscope::charts
