#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "charts/tables.h"
#include "ui/context.h"

namespace attnscope::ui {

// One run compared with the shown one: first the settings that differ, then the results.
class ComparePane {
 public:
  // Compares that run with the shown one; 0 ends the comparison.
  void compare_with(uint64_t run) { run_ = run; }
  uint64_t compared() const { return run_; }
  // Looks up the run and builds the rows; false: there is nothing to compare, or no longer.
  bool refresh(const Context& context);
  // The width at which no cell is cut; valid after refresh().
  float wanted_width() const;
  void draw();

 private:
  void draw_row(const charts::ComparedRow& row) const;

  uint64_t run_ = 0;  // 0 none
  std::string before_, after_;
  std::vector<charts::ComparedRow> settings_, figures_;
};

}  // namespace attnscope::ui
