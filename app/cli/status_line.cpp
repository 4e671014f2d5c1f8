#include "cli/status_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace attnscope::cli {

std::string left_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s left", std::max(seconds, 1.0));
  if (seconds < 90 * 60) return fmt::format("{:.0f} min left", seconds / 60);
  return fmt::format("{:.1f} h left", seconds / 3600);
}

bool StatusLine::is_shown() { return isatty(STDERR_FILENO) != 0 || notes_are_json(); }

void StatusLine::show(const std::string& text, PartsDone parts) {
  if (is_shown() && text != said_) print_over(said_ = text, parts);
}

}  // namespace attnscope::cli
