#pragma once
#include <string>

#include "cli/command.h"

namespace attnscope::cli {

// One line on stderr that says how far something is, on a terminal or for a program that reads it. It ends cleared.
class StatusLine {
 public:
  static bool is_shown();
  ~StatusLine() { show(""); }
  void show(const std::string& text, PartsDone parts = {});

 private:
  std::string said_;
};

}  // namespace attnscope::cli
