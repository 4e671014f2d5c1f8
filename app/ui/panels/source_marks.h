#pragma once
#include <string>
#include <vector>

#include "core/observation.h"
#include "core/source_lines.h"

namespace attnscope::ui {

// A line of the source with messages about it.
struct SourceMark {
  int64_t line = 0;  // of the text, from 1
  bool error = false;
  std::string words;  // full text, one paragraph per finding
  bool operator==(const SourceMark&) const = default;
};

// The lines of the text that the observation's findings or its failure name, ascending, one entry per line. `source`
// says which lines of which files they are.
std::vector<SourceMark> source_marks(const Observation& seen, const Failure* failure, const SourceLines& source);

}  // namespace attnscope::ui
