#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::charts {

// A line of PTX with the lines of the source that it comes from, innermost first; its text points into the PTX.
struct PtxLine {
  std::string_view text;
  std::vector<int64_t> lines;
};

// The PTX's lines, without its .loc directives, which say where what follows comes from. `source_name` is the file
// whose lines are wanted.
std::vector<PtxLine> ptx_lines(std::string_view ptx, std::string_view source_name);

}  // namespace attnscope::charts
