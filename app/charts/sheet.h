#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/observation.h"

namespace attnscope::charts {

// A table for export. A cell may be empty. Columns are named like the keys of an observation, with the unit if there is
// one: "static_shared_bytes".
using Cell = std::variant<std::monostate, std::string, double, int64_t>;
struct Sheet {
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;  // each row is as long as `columns`
};

// Numbers have six significant digits in CSV and all digits in JSON. A value that is not finite is empty in CSV and
// null in JSON.
std::string csv_line(const std::vector<Cell>& cells);  // without a line end
std::string csv_of(const Sheet& sheet);                // with a header line
std::string json_of(const Sheet& sheet);               // a list of objects

// The columns of a run's row, the same for every program that writes runs. Dates are UTC, "2026-01-31 12:00:00", or "?"
// for an invalid time.
const std::vector<std::string>& run_columns();
std::vector<Cell> run_cells(const Observation& run, double finished_at);  // seconds since the epoch
std::string date_of(double finished_at);
// The knobs as one text, "BLOCK_M=32;NUM_WARPS=8".
std::string knobs_text(const Config& config, const char* between);
// The compile options that differ from the program's usual ones, "maxrregcount=64;fast_math=off". Without them, configs
// that differ in nothing else would look alike.
std::string options_text(const Config& config, const char* between);
// Why there is no time, what is wrong, or that the output is correct.
std::string result_word(const Observation& run);

}  // namespace attnscope::charts
