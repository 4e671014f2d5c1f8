#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/observation.h"
#include "core/source_lines.h"

namespace attnscope::cli {

// The file that a kernel's source came from, and which lines of it and of its project's headers the source's are.
struct SourceFile {
  SourceLines lines;
  std::string path;  // as a person gave it: "src/k.cu"; empty: the lines' names are all that is known
};

// A fault or a finding at its line, as a compiler says it.
struct Located {
  std::string rule;  // a watch's rule, or the failure's stage
  Severity severity = Severity::error;
  std::string message;
  std::string file;  // empty: none is known
  int64_t line = 0;  // from 1; 0: none is known
  std::string other_file;
  int64_t other_line = 0;  // of the other access
};

// What a watch found and what ended the run, errors first. Without what only explains a time.
std::vector<Located> located(const Observation& observation, const SourceFile& source);

// "src/k.cu:12: error: … [race.shared]"
std::string line_of(const Located& one);

// The tool of compute-sanitizer that looks for it: memcheck, racecheck, synccheck, initcheck; empty: none does.
std::string_view tool_of(const Located& one);

// Of times without a watch.
inline constexpr const char* kNotWatched =
    "Not watched: a race or an output that is right by luck is not found (--watch).";

// Whether the watch looked at every CTA.
bool is_whole(const Observation& observation);

// SARIF 2.1.0 (docs.oasis-open.org/sarif/sarif/v2.1.0): one run with its findings at their lines.
Json sarif_of(const Observation& observation, const SourceFile& source);

}  // namespace attnscope::cli
