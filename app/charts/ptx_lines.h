#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/source_lines.h"

namespace attnscope::charts {

// A line of PTX with the lines of the text that it comes from, innermost first; its text points into the PTX.
struct PtxLine {
  std::string_view text;
  std::vector<int64_t> lines;
};

// The PTX's lines, without its .loc directives, which say where what follows comes from. `source` says which lines
// those of the wanted text are.
std::vector<PtxLine> ptx_lines(std::string_view ptx, const SourceLines& source);

}  // namespace attnscope::charts
