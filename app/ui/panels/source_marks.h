#pragma once
#include <string>
#include <vector>

#include "core/observation.h"
#include "core/source_lines.h"

namespace attnscope::ui {

// A source line with messages about it.
struct SourceMark {
  int64_t line = 0;  // in the text, from 1
  bool error = false;
  std::string words;  // full text, one paragraph per finding
  bool operator==(const SourceMark&) const = default;
};

// The lines of the text that the observation's findings or its failure name, ascending, one entry per line. `source`
// maps the text's lines to files.
std::vector<SourceMark> source_marks(const Observation& seen, const Failure* failure, const SourceLines& source);

}  // namespace attnscope::ui
