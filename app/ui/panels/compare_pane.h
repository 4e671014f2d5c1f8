#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "charts/tables.h"
#include "ui/context.h"

namespace attnscope::ui {

// One run held against the one on show: what was asked of them and differs, then what came of them.
class ComparePane {
 public:
  // Holds that run against the one on show; 0 ends it.
  void compare_with(uint64_t run) { run_ = run; }
  uint64_t compared() const { return run_; }
  // Looks the run up and makes the rows; false: there is nothing to compare, or not any more.
  bool refresh(const Context& context);
  // So wide that no cell is cut; after refresh().
  float wanted_width() const;
  void draw();

 private:
  void draw_row(const charts::ComparedRow& row) const;

  uint64_t run_ = 0;  // 0 none
  std::string before_, after_;
  std::vector<charts::ComparedRow> settings_, figures_;
};

}  // namespace attnscope::ui
