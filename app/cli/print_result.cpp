#include "cli/command.h"
#include "platform/standard_streams.h"

namespace attnscope::cli {

void print_result(const std::string& text) { platform::write_stdout(text.ends_with('\n') ? text : text + "\n"); }

void print_note(const std::string& text) { platform::write_stderr(text + "\n"); }

void print_over(const std::string& text) {
  platform::write_stderr("\r\x1b[K" + text);  // back to the line's start, and clear it
}

}  // namespace attnscope::cli
