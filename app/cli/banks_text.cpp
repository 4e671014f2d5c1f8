#include "cli/banks_text.h"

#include <fmt/format.h>

#include <set>

#include "charts/bank_grid.h"
#include "cli/disasm_text.h"
#include "core/escape.h"

namespace attnscope::cli {
namespace {

constexpr int64_t kPadding = 16;  // bytes: it keeps 16-byte accesses aligned

std::string wavefronts_text(const Wavefronts& one) {
  return fmt::format("{} wavefront{} for {}", one.taken, one.taken == 1 ? "" : "s", one.needed);
}

// 32 columns: a bank of which the lane takes a word.
std::string row_of(const charts::BankGrid& grid, int lane) {
  std::string row;
  for (const int words : grid.words[size_t(lane)]) row += words > 0 ? '#' : '.';
  return row;
}

// How many different words each bank must serve; "+" from 10 on.
std::string load_of(const charts::BankGrid& grid) {
  std::string row;
  for (const int words : grid.distinct) row += words == 0 ? '.' : words < 10 ? char('0' + words) : '+';
  return row;
}

struct Column {
  std::string title;
  charts::BankGrid grid;
};

std::string grids_text(const SharedAccess& access, const std::vector<Column>& columns) {
  const auto line = [&](const std::string& head, const auto& text) {
    std::string row = fmt::format("{:<6}", head);
    for (const Column& column : columns) row += fmt::format(" {:<34}", text(column));
    return row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  };
  std::string out = line("", [](const Column& column) { return column.title; });
  out += line("", [](const Column& column) { return wavefronts_text(column.grid.wavefronts); });
  for (int lane = 0; lane < 32; ++lane)
    if (access.active(lane))
      out += line(fmt::format("{:>5}", lane), [lane](const Column& column) { return row_of(column.grid, lane); });
  return out + line("words", [](const Column& column) { return load_of(column.grid); });
}

std::string access_text(const CodeLine& code, int64_t row) {
  const SharedAccess& access = *code.access;
  if (row == 0) row = charts::row_bytes(access);
  std::vector<Column> columns{{"as recorded", charts::bank_grid(access)}};
  if (row > 0) {
    columns.push_back({fmt::format("{} B behind each row", kPadding),
                       charts::bank_grid(charts::relaid(access, row, {kPadding, false}))});
    columns.push_back({"chunks permuted by the row", charts::bank_grid(charts::relaid(access, row, {0, true}))});
  }
  return one_line(fmt::format("{}  {} of {} bytes a lane, {}", code.text, access.load ? "load" : "store", access.bytes,
                              row > 0 ? fmt::format("rows of {} bytes", row) : "in one row")) +
         "\n" + grids_text(access, columns);
}

}  // namespace

Result<std::string> banks_text(const Listing& listing, const Kernel& kernel, int64_t line, int64_t row) {
  std::string out;
  std::set<int64_t> others;
  for (const CodeLine& code : listing.lines) {
    if (!code.access) continue;
    const int64_t at = own_line(listing, code, kernel);
    others.insert(at);
    if (at == line) out += (out.empty() ? "" : "\n") + access_text(code, row);
  }
  if (!out.empty()) return out;
  if (others.empty())
    return fail(Stage::input, kernel.id + " made no recorded access to shared memory",
                "Loads and stores are recorded in emulated runs; LDSM and asynchronous copies are not.");
  return fail(Stage::input, fmt::format("{}:{} made no recorded access to shared memory", kernel.source_name, line),
              lines_hint("Lines that did", others));
}

}  // namespace attnscope::cli
