#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/source_lines.h"

namespace attnscope::charts {

// A line of PTX and the source lines that it comes from, innermost first. Its text points into the PTX.
struct PtxLine {
  std::string_view text;
  std::vector<int64_t> lines;
};

// The PTX's lines without its .loc directives, which say where the following lines come from. `source` maps the lines
// of the wanted text.
std::vector<PtxLine> ptx_lines(std::string_view ptx, const SourceLines& source);

}  // namespace attnscope::charts
