#pragma once
#include <string>

#include "cli/command.h"

namespace attnscope::cli {

// A progress line on stderr, on a terminal or for a program that reads it. It is cleared at the end.
class StatusLine {
 public:
  static bool is_shown();
  ~StatusLine() { show(""); }
  void show(const std::string& text, PartsDone parts = {});

 private:
  std::string said_;
};

}  // namespace attnscope::cli
