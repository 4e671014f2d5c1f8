#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "charts/tables.h"
#include "ui/context.h"

namespace attnscope::ui {

// The baseline (A) and the shown run: first the settings that differ, then the results.
class ComparePane {
 public:
  void open(bool wanted) { open_ = wanted; }
  bool is_open() const { return open_; }
  // Builds the rows. Without a baseline it closes and returns false.
  bool refresh(const Context& context);
  // The width at which no cell is cut. Call after refresh().
  float wanted_width() const;
  void draw(Context& context);

 private:
  void draw_row(const charts::ComparedRow& row) const;

  bool open_ = false;
  std::string before_, after_;
  std::vector<charts::ComparedRow> settings_, figures_;
};

}  // namespace attnscope::ui
