#pragma once
#include <string>

#include "core/observation.h"

namespace attnscope::cli {

// An observation for a terminal: one figure per line, with its kind. `compiled` is false for a kernel that is machine
// code, which has no options and whose spills are not counted.
std::string text_of(const Observation& observation, const std::string& config_text, bool compiled = true);

// Parts of the text, some of which `attnscope check` prints: kernel, problem and device; one line; the verdict, which
// an error of the watch replaces; how much of the grid was watched.
std::string heading_text(const Observation& observation, const std::string& config_text);
std::string text_line(std::string_view label, const std::string& text);
std::string verdict_text(const Observation& observation);
std::string watched_text(const WatchReport& watch, bool program);

}  // namespace attnscope::cli
