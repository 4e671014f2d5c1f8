#include "charts/latency_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "charts/format.h"
#include "core/words.h"

namespace attnscope::charts {
namespace {

constexpr double kLogFrom = 10;    // ratio of the largest to the smallest figure
constexpr double kLogFoot = 0.12;  // share of a logarithmic axis left free below the smallest figure

struct Span {
  double low = 0, high = 0;
};

// Includes the whiskers.
Span span_of(const LatencyChart& chart) {
  Span span;
  for (const LatencyColumn& column : chart.columns) {
    if (column.state != ColumnState::timed || !(column.p50 > 0)) continue;
    double least = column.p50;
    for (const double us : {column.p10, column.interval_low})
      if (us > 0) least = std::min(least, us);
    span.low = span.low > 0 ? std::min(span.low, least) : least;
    span.high = std::max({span.high, column.p50, column.p90, column.interval_high});
  }
  return span;
}

// 1, 2 or 5 times a power of ten, and not below `least`.
double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double step : {1.0, 2.0, 5.0})
    if (step * power >= least) return step * power;
  return 10 * power;
}

}  // namespace

LatencyAxis latency_axis(const LatencyChart& chart, AxisChoice choice, double headroom) {
  const Span span = span_of(chart);
  const double free = 1 - std::clamp(headroom, 0.0, 0.8);
  LatencyAxis axis;
  axis.top = span.high > 0 ? span.high : 1000;
  axis.log = choice == AxisChoice::logarithmic ||
             (choice == AxisChoice::automatic && span.low > 0 && span.high > kLogFrom * span.low);
  if (!axis.log) {
    axis.high = axis.top / free * 1.02;
    return axis;
  }
  const double low = span.low > 0 ? span.low : 1;
  const double decades = std::max(std::log10(axis.top / low), 0.3);
  axis.low = low / std::pow(10.0, decades * kLogFoot);
  axis.high = axis.low * std::pow(axis.top / axis.low, 1 / free) * 1.02;
  return axis;
}

std::vector<double> axis_marks(const LatencyAxis& axis, size_t most) {
  most = std::max<size_t>(most, 2);
  std::vector<double> marks;
  if (!axis.log) {
    const double step = round_step(axis.top / static_cast<double>(most));
    for (int at = 0; at * step <= axis.top * 1.0001; ++at) marks.push_back(at * step);
    return marks;
  }
  const auto within = [&](std::initializer_list<double> factors, int every) {
    std::vector<double> found;
    for (int power = static_cast<int>(std::floor(std::log10(axis.low))); std::pow(10.0, power) <= axis.top; ++power)
      for (const double factor : factors)
        if (const double at = factor * std::pow(10.0, power);
            power % every == 0 && at >= axis.low && at <= axis.top * 1.0001)
          found.push_back(at);
    return found;
  };
  marks = within({1, 2, 5}, 1);
  if (marks.size() > most) marks = within({1}, 1);
  for (int every = 2; marks.size() > most; ++every) marks = within({1}, every);
  return marks;
}

std::string mark_text(double us) { return us >= 1000 ? with_commas(std::llround(us)) : fmt::format("{:.4g}", us); }

std::vector<RugMark> reported_rug(std::span<const Reported> lines, const LatencyAxis& axis) {
  std::vector<RugMark> rug;
  for (size_t at = 0; at < lines.size(); ++at)
    if (lines[at].us > 0)
      rug.push_back({at, std::clamp(lines[at].us, axis.low, axis.high),
                     lines[at].us > axis.high  ? 1
                     : lines[at].us < axis.low ? -1
                                               : 0});
  return rug;
}

std::vector<size_t> named_columns(const LatencyChart& chart, uint64_t hovered, uint64_t live, uint64_t compared) {
  std::vector<size_t> named;
  for (const uint64_t run : {hovered, live, compared})
    for (size_t at = 0; run != 0 && at < chart.columns.size(); ++at)
      if (chart.columns[at].run == run && std::find(named.begin(), named.end(), at) == named.end()) named.push_back(at);
  return named;
}

std::vector<std::optional<LabelPlace>> place_labels(std::span<const LabelWish> wishes, float left, float right,
                                                    float gap, int rows) {
  std::vector<std::optional<LabelPlace>> places;
  for (const LabelWish& wish : wishes) {
    const float at = std::max(left, std::min(wish.centre - wish.width / 2, right - wish.width));
    std::optional<LabelPlace> place;
    for (int row = 0; row < rows && !place; ++row) {
      bool free = true;
      for (size_t before = 0; before < places.size(); ++before)
        if (places[before] && places[before]->row == row)
          free = free && (at >= places[before]->left + wishes[before].width + gap ||
                          at + wish.width + gap <= places[before]->left);
      if (free) place = LabelPlace{at, row};
    }
    places.push_back(place);
  }
  return places;
}

}  // namespace attnscope::charts
