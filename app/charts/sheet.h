#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/observation.h"

namespace attnscope::charts {

// A table that leaves the program. A cell may be empty. Columns are named like the keys of an observation, with a unit
// where they have one: "static_shared_bytes".
using Cell = std::variant<std::monostate, std::string, double, int64_t>;
struct Sheet {
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;  // each as long as `columns`
};

// Numbers have six significant digits in CSV and all in JSON; what is not finite is empty, null in JSON.
std::string csv_line(const std::vector<Cell>& cells);  // without a line end
std::string csv_of(const Sheet& sheet);                // with a head line
std::string json_of(const Sheet& sheet);               // a list of objects

// A run as a row, of whichever program wrote it. Dates are UTC, "2026-01-31 12:00:00", or "?" for a time that is none.
const std::vector<std::string>& run_columns();
std::vector<Cell> run_cells(const Observation& run, double finished_at);  // seconds since the epoch
std::string date_of(double finished_at);
// The knobs in one text, "BLOCK_M=32;NUM_WARPS=8".
std::string knobs_text(const Config& config, const char* between);
// Why there is no time, what is wrong, or that it is correct.
std::string result_word(const Observation& run);

}  // namespace attnscope::charts
