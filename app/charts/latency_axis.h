#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "charts/latency_chart.h"
#include "core/words.h"

namespace attnscope {
namespace charts {

// The kind of latency axis. `automatic` is logarithmic if the figures span more than a factor of ten.
enum class AxisChoice { automatic, linear, logarithmic };
}  // namespace charts

template <>
struct Words<charts::AxisChoice> {
  using enum charts::AxisChoice;
  static constexpr WordTable<charts::AxisChoice, 3> table{
      {{automatic, "auto"}, {linear, "linear"}, {logarithmic, "log"}}};
};

namespace charts {

struct LatencyAxis {
  bool log = false;
  double low = 0, high = 1;  // us
  double top = 1;            // us: the largest figure; the space above it is for labels
};

// An axis that covers every timed column and leaves `headroom` of its length (0…1) free at its top. Reported figures do
// not affect it; one outside the axis is pinned to its edge.
LatencyAxis latency_axis(const LatencyChart& chart, AxisChoice choice, double headroom);

// At most `most` axis marks at round figures, ascending and never above `top`. On a logarithmic axis they are 1, 2 and
// 5 times the powers of ten if they fit, otherwise only the powers.
std::vector<double> axis_marks(const LatencyAxis& axis, size_t most);
std::string mark_text(double us);  // "0.5", "20", "1,000"

// The position of a reported figure beside the axis.
struct RugMark {
  size_t line = 0;  // index into the lines
  double us = 0;    // clamped to the axis
  int beyond = 0;   // +1: the figure is above the axis, -1: below it
};
// In the order of the lines, without those that have no figure.
std::vector<RugMark> reported_rug(std::span<const Reported> lines, const LatencyAxis& axis);

// The columns that get a label, without duplicates and in order of priority: the runs `hovered`, `live` and `compared`
// (0: none).
std::vector<size_t> named_columns(const LatencyChart& chart, uint64_t hovered, uint64_t live, uint64_t compared);

struct LabelWish {
  float centre = 0, width = 0;  // pixels
};
struct LabelPlace {
  float left = 0;
  int row = 0;
};
// Each label goes into the first row where it touches no earlier label, moved inwards at the edges. Empty if every row
// is taken.
std::vector<std::optional<LabelPlace>> place_labels(std::span<const LabelWish> wishes, float left, float right,
                                                    float gap, int rows);

}  // namespace charts
}  // namespace attnscope
