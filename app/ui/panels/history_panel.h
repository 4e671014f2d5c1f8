#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ui/panels/compare_pane.h"
#include "ui/panels/panel.h"

namespace attnscope::ui {

// Every run as a row; click one to look at it or to compare it with the live one.
class HistoryPanel : public Panel {
 public:
  const char* title() const override { return "History"; }
  Dock dock() const override { return Dock::below; }
  void draw(Context& context) override;
  // Compares that run with the shown one; 0 ends the comparison.
  void compare_with(uint64_t run) { compare_.compare_with(run); }
  uint64_t compared() const { return compare_.compared(); }

 private:
  void sort(const session::History& history);
  void follow_newest(size_t runs);
  void draw_row(Context& context, const session::HistoryEntry& entry);
  void fit_columns(const Context& context, float ems);

  std::vector<size_t> order_;  // indices into the history, as sorted
  int sort_column_ = 0;
  bool ascending_ = true;
  size_t runs_seen_ = 0;  // in the last frame
  int to_end_ = 0;        // frames left in which the list scrolls to its end
  bool stale_ = true;
  ComparePane compare_;
  bool made_ = false;    // the table has been drawn once
  size_t fitting_ = 11;  // columns that fit the width
};

}  // namespace attnscope::ui
