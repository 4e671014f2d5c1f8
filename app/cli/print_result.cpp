#include <cstdio>

#include "cli/command.h"

namespace attnscope::cli {

void print_result(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (text.empty() || text.back() != '\n') std::fputc('\n', stdout);
}

}  // namespace attnscope::cli
