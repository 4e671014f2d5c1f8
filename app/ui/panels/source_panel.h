#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ui/panels/panel.h"

namespace attnscope::ui {

// A line of the source with messages about it.
struct SourceMark {
  int64_t line = 0;  // from 1
  bool error = false;
  std::string words;  // full text, one paragraph per finding
};

// The lines of `source_name` that the observation's findings or its failure name, ascending, one entry per line.
std::vector<SourceMark> source_marks(const Observation& seen, const Failure* failure, const std::string& source_name);

// The kernel's source with the lines that findings and compiler errors name.
class SourcePanel : public Panel {
 public:
  const char* title() const override { return "Source"; }
  Dock dock() const override { return Dock::below; }
  void draw(Context& context) override;
  // Scrolls to that line and outlines it.
  void show_line(int64_t line);
  int64_t shown_line() const { return chosen_; }  // 0: none was requested

 private:
  void refresh(const Context& context, const Kernel& kernel);
  void draw_header(const Context& context, const Kernel& kernel);
  void draw_lines();
  void draw_line(size_t at, float gutter);
  void step(int direction);

  std::string lines_of_;                 // content hash of the kernel whose lines these are
  std::string text_;                     // its source
  std::vector<std::string_view> lines_;  // into text_
  std::vector<bool> comment_;            // by line: only a comment
  std::vector<SourceMark> marks_;
  const Observation* marks_of_ = nullptr;
  std::string failure_of_;
  int64_t chosen_ = 0;
  bool reveal_ = false;
};

}  // namespace attnscope::ui
