#pragma once
#include <string>

#include "core/result.h"

namespace attnscope::compile {

// Sources are given to NVRTC below this folder, so that the line table does not hold the folder that the program
// happens to run in: equal sources give equal cubins wherever they are compiled. It is taken off again wherever a name
// is shown.
inline constexpr const char* source_root = "/attnscope/";

std::string without_source_root(std::string text);

// What a kernel's own text may include, as a hint; and what is said of a name that leads elsewhere.
inline constexpr const char* kMayInclude =
    "A kernel may include CUDA's headers and the header sets that its manifest declares. `attnscope import` pastes a "
    "project's own headers into its source.";
std::string outside_text(const std::string& name);

// Why NVRTC refused, from its log: the first error as file:line (Stage::compile; the whole log is the hint), or the
// static shared memory that is too much (Stage::limits).
Failure explain_refusal(const std::string& log, const std::string& file_name, const std::string& entry);

}  // namespace attnscope::compile
