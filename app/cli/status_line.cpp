#include "cli/status_line.h"

#include <unistd.h>

namespace attnscope::cli {

bool StatusLine::is_shown() { return isatty(STDERR_FILENO) != 0 || notes_are_json(); }

void StatusLine::show(const std::string& text, PartsDone parts) {
  if (is_shown() && text != said_) print_over(said_ = text, parts);
}

}  // namespace attnscope::cli
