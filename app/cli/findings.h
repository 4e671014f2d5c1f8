#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/observation.h"
#include "core/source_lines.h"

namespace attnscope::cli {

// The file that a kernel's source came from, and a map from the source's lines to lines of the file and of its
// project's headers.
struct SourceFile {
  SourceLines lines;
  std::string path;  // as the person gave it: "src/k.cu"; empty: only the names of the lines are known
};

// A fault or a finding at its line, as a compiler reports it.
struct Located {
  std::string rule;  // the rule of a watch, or the failure's stage
  Severity severity = Severity::error;
  std::string message;
  std::string file;  // empty: unknown
  int64_t line = 0;  // from 1; 0: unknown
  std::string other_file;
  int64_t other_line = 0;  // of the other access
};

// What a watch found and what ended the run, errors first. Findings that only explain a time are left out.
std::vector<Located> located(const Observation& observation, const SourceFile& source);

// "src/k.cu:12: error: … [race.shared]"
std::string line_of(const Located& one);

// The tool of compute-sanitizer that finds this kind of error: memcheck, racecheck, synccheck or initcheck; empty: none
// does.
std::string_view tool_of(const Located& one);

// Note on times without a watch.
inline constexpr const char* kNotWatched =
    "Not watched: a race or an output that is right by luck is not found (--watch).";

// True if the watch covered every CTA.
bool is_whole(const Observation& observation);

// True if a run of the whole grid ended in which no thread stores to global memory or prints: nothing that the kernel
// does shows.
bool stores_nothing(const Observation& observation);
inline constexpr const char* kStoresNothing =
    "no thread stores anything: the sizes, the values or the launch may keep every thread from its work";

// SARIF 2.1.0 (docs.oasis-open.org/sarif/sarif/v2.1.0): one run with its findings at their lines.
Json sarif_of(const Observation& observation, const SourceFile& source);

}  // namespace attnscope::cli
