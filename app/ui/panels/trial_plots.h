#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "charts/figure.h"
#include "sweep/job.h"
#include "ui/context.h"

namespace attnscope::ui {

// The trials of a sweep, and those that the brushes select.
class BrushedTrials {
 public:
  // Clears the brushes if the number is another sweep's.
  void follow(uint64_t sweep, const session::Shared<sweep::Trials>& trials);

  const sweep::Trials& all() const { return *trials_; }
  const std::vector<uint32_t>& rows() const { return rows_; }  // into all().rows
  // Those that the plots draw, by stride_of(): of what passes, and of the rest as many as there is room for.
  const std::vector<uint32_t>& drawn() const { return drawn_; }
  const std::vector<uint32_t>& drawn_faintly() const { return drawn_faintly_; }
  const std::vector<sweep::Brush>& brushes() const { return brushes_; }
  const sweep::Brush* brush_of(size_t column) const;
  void brush(size_t column, double low, double high);  // for a knob, the ends are rounded to whole positions
  void clear(size_t column);
  void clear();

 private:
  void filter();

  uint64_t sweep_ = 0;
  session::Shared<sweep::Trials> trials_ = session::share<sweep::Trials>();
  std::vector<sweep::Brush> brushes_;
  std::vector<uint32_t> rows_, drawn_, drawn_faintly_;
};

// A figure against a figure or a knob. Dragging brushes both axes.
class ScatterPlot {
 public:
  // Returns the row that was clicked; empty if none was.
  std::optional<size_t> draw(BrushedTrials& trials);
  charts::Figure figure(const BrushedTrials& trials) const;  // as drawn last

 private:
  size_t x_ = 0;
  std::optional<size_t> y_;  // empty: the time
  std::optional<ImVec2> pressed_;
};

// Every knob and figure is an axis and every trial a line. Dragging along an axis brushes it.
class ParallelPlot {
 public:
  std::optional<size_t> draw(BrushedTrials& trials);
  static charts::Figure figure(const BrushedTrials& trials);

 private:
  std::optional<ImVec2> pressed_;
  std::optional<size_t> pressed_axis_;
};

inline constexpr size_t kMostDrawn = 4000;  // points or lines: more would hide each other, and cost frames
// Of that many rows the plots draw one of each stride, from the first, the fastest, on.
size_t stride_of(size_t rows, size_t most = kMostDrawn);

// A trial as lines of text: its config, time and result.
std::string words_of(const sweep::Trials& trials, size_t row);

}  // namespace attnscope::ui
