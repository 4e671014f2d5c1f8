#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ui/panels/panel.h"

namespace attnscope::ui {

// Every run as a row; pick one to look at it, compare it with the live one.
class HistoryPanel : public Panel {
 public:
  const char* title() const override { return "History"; }
  Dock dock() const override { return Dock::below; }
  void draw(Context& context) override;
  // Holds that run against the one on show; 0 ends it.
  void compare_with(uint64_t run) { compared_ = run; }
  uint64_t compared() const { return compared_; }

 private:
  void sort(const session::History& history);
  void draw_row(Context& context, const session::HistoryEntry& entry);
  void draw_compare(Context& context);

  std::vector<size_t> order_;  // indices into the history, as sorted
  int sort_column_ = 0;
  bool ascending_ = false;
  bool stale_ = true;
  uint64_t compared_ = 0;  // run held against the shown one; 0 none
};

}  // namespace attnscope::ui
