#include "cli/status_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/command.h"

namespace attnscope::cli {

std::string left_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s left", std::max(seconds, 1.0));
  if (seconds < 90 * 60) return fmt::format("{:.0f} min left", seconds / 60);
  return fmt::format("{:.1f} h left", seconds / 3600);
}

void StatusLine::show(const std::string& text) {
  if (isatty(STDERR_FILENO) != 0 && text != said_) print_over(said_ = text);
}

}  // namespace attnscope::cli
