#include "cli/fragments_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "charts/fragment_grid.h"
#include "cli/disasm_text.h"
#include "core/escape.h"
#include "core/joined.h"

namespace attnscope::cli {
namespace {

using charts::FragmentGrid;

std::string cell_text(const FragmentGrid& grid, const FragmentPlace& cell, uint32_t lane) {
  const std::string registers = charts::registers_text(grid.of.back(), cell);
  return fmt::format("{}{:>2} {}{}", cell.lane == lane ? '[' : ' ', cell.lane, registers,
                     cell.lane == lane ? ']' : ' ');
}

std::string grid_text(const FragmentGrid& grid, uint32_t lane) {
  std::string out = fmt::format("{}; {}\n", grid.title, joined(grid.where));
  size_t width = 0;
  for (const FragmentPlace& cell : grid.cells) width = std::max(width, cell_text(grid, cell, lane).size());
  const auto line = [&](const std::string& head, const std::vector<std::string>& texts) {
    std::string row = fmt::format("{:>6} ", head);
    for (const std::string& text : texts) row += fmt::format(" {:<{}}", text, width);
    return row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  };
  std::vector<std::string> names;
  for (const std::string& name : grid.column_names) names.push_back(" " + name);
  out += line("", names);
  for (size_t row = 0; row < grid.row_names.size(); ++row) {
    std::vector<std::string> cells;
    for (size_t column = 0; column < grid.column_names.size(); ++column)
      cells.push_back(cell_text(grid, grid.cell(row, column), lane));
    out += line(grid.row_names[row], cells);
  }
  for (const MatrixFragment& of : grid.of)
    out += fmt::format("Lane {} holds of {}: {}\n", lane, to_string(of.matrix),
                       joined(charts::held_registers(of, lane), &charts::HeldRegister::text, "   "));
  return out;
}

// True if the layouts are equal; registers may differ.
bool same_picture(const std::vector<MatrixFragment>& a, const std::vector<MatrixFragment>& b) {
  return std::ranges::equal(a, b, [](const MatrixFragment& one, const MatrixFragment& other) {
    return one.matrix == other.matrix && alike(one, other);
  });
}

std::string picture_text(const std::vector<const CodeLine*>& codes, uint32_t lane) {
  const CodeLine& first = *codes.front();
  const std::string more =
      codes.size() == 1 ? "" : fmt::format("  and {} more at this line, in other registers", codes.size() - 1);
  std::string out = one_line(first.text) + more + "\n";
  if (const std::string note = charts::fragment_note(first.fragments); !note.empty()) out += note + "\n";
  for (const FragmentGrid& grid : charts::fragment_grids(first.fragments)) out += "\n" + grid_text(grid, lane);
  return out;
}

}  // namespace

Result<std::string> fragments_text(const Listing& listing, const Kernel& kernel, int64_t line, uint32_t lane) {
  std::vector<std::vector<const CodeLine*>> pictures;
  std::set<int64_t> others;
  for (const int64_t at : charts::with_fragments(listing)) {
    const CodeLine& code = listing.lines[size_t(at)];
    const int64_t its = own_line(listing, code, kernel);
    if (its > 0) others.insert(its);
    if (its != line) continue;
    const auto known = std::ranges::find_if(
        pictures, [&](const auto& codes) { return same_picture(codes.front()->fragments, code.fragments); });
    if (known != pictures.end())
      known->push_back(&code);
    else
      pictures.push_back({&code});
  }
  if (!pictures.empty())
    return joined(
        pictures, [lane](const auto& codes) { return picture_text(codes, lane); }, "\n");
  if (others.empty())
    return fail(Stage::input, kernel.id + " has no line with an instruction of Tensor Cores, LDSM or MOVM",
                "Choose a kernel or a config that uses Tensor Cores, with lines in its code.");
  return fail(Stage::input,
              fmt::format("{}:{} has no instruction of Tensor Cores, LDSM or MOVM", kernel.source_name, line),
              lines_hint("Lines that have", others));
}

}  // namespace attnscope::cli
