#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace attnscope::ui {

// What a command of this program has said so far, started with ATTNSCOPE_NOTES=json: its lines as a terminal would show
// them, and its last progress.
struct ToolOutput {
  std::string text;
  std::string progress;     // "tiled, 3 of 12"; empty: it has said none
  size_t done = 0, of = 0;  // parts of the whole; 0 of 0: unknown
};

ToolOutput read_notes(std::string_view output);

}  // namespace attnscope::ui
