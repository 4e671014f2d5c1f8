#pragma once
#include <string>

namespace attnscope::cli {

// "12 s left", "3 min left", "1.5 h left"
std::string left_text(double seconds);

// One line on stderr that says how far something is, on a terminal. It ends cleared.
class StatusLine {
 public:
  ~StatusLine() { show(""); }
  void show(const std::string& text);

 private:
  std::string said_;
};

}  // namespace attnscope::cli
