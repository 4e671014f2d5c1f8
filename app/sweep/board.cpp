#include "sweep/board.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "charts/format.h"
#include "core/headline.h"

namespace attnscope::sweep {
namespace {

bool is_sound(const Scan& scan, size_t point) {
  const Observation* run = scan.timed(point);
  return !scan.points[point].refused && run != nullptr && is_accepted(*run);
}

// For a point that may not win.
Rejected rejected_of(const Scan& scan, const charts::ScanRow& row) {
  Rejected one{row.text, row.verdict, row.reason, row.hint, ""};
  if (is_sound(scan, row.point)) {  // timed for less than others, because it was dropped (search/halving.h)
    const Observation* run = scan.timed(row.point);
    one.why = "dropped";
    one.reason = fmt::format("{} us in a round of up to {} ms, slower than those that went on",
                             charts::terminal_us(run->timing->p50), run->experiment.measure.max_time_ms);
    one.common =
        fmt::format("slower than those that went on from a round of up to {} ms", run->experiment.measure.max_time_ms);
    return one;
  }
  if (const Observation* run = scan.timed(row.point); one.reason.empty() && run != nullptr && run->verdict)
    one.reason = run->verdict->reason;
  // The reasons of faulty outputs name elements and threads, so they are counted by their verdict.
  one.common = row.state == charts::ScanState::faulty ? "" : one.reason;
  return one;
}

}  // namespace

std::vector<size_t> accepted_points(const Scan& scan) {
  std::vector<size_t> points;
  int64_t longest = 0;  // ms
  for (size_t at = 0; at < scan.points.size(); ++at) {
    if (!is_sound(scan, at)) continue;
    points.push_back(at);
    longest = std::max(longest, scan.timed(at)->experiment.measure.max_time_ms);
  }
  std::erase_if(points, [&](size_t at) { return scan.timed(at)->experiment.measure.max_time_ms < longest; });
  return points;
}

Scan only(const Scan& scan, const std::vector<size_t>& points) {
  Scan part{scan.id, scan.held, {}, scan.failure};
  for (const size_t at : points) {
    ScanPoint point = scan.points.at(at);
    if (point.same_as) {
      const auto twin = std::ranges::lower_bound(points, *point.same_as);
      point.same_as = static_cast<size_t>(twin - points.begin());
    }
    part.points.push_back(std::move(point));
  }
  return part;
}

Board board_of(const Scan& scan, const std::vector<search::Excluded>& excluded, const Kernel& kernel) {
  Board board;
  for (const search::Excluded& one : excluded)
    board.rejected.push_back({short_text(one.config, kernel, scan.held.config.options), std::string(word_of(one.why)),
                              one.reason, one.hint, one.common});
  const std::vector<size_t> points = accepted_points(scan);
  for (const charts::ScanSeries& series : charts::scan_series(scan))
    for (const charts::ScanRow& row : series.rows)
      if (!std::ranges::binary_search(points, row.point)) board.rejected.push_back(rejected_of(scan, row));
  board.accepted = only(scan, points);
  for (charts::ScanSeries& series : charts::scan_series(board.accepted)) board.rows = std::move(series.rows);
  std::ranges::stable_sort(board.rows, {}, [](const charts::ScanRow& row) { return std::pair(*row.us, !row.best); });
  return board;
}

std::string most_common(const std::vector<search::Excluded>& excluded) {
  std::map<std::string, size_t> counted;
  for (const search::Excluded& one : excluded) ++counted[one.common];
  const auto most = std::ranges::max_element(counted, {}, &std::pair<const std::string, size_t>::second);
  return fmt::format("{} of {}: {}", most->second, excluded.size(), most->first);
}

std::vector<size_t> leaders_of(const Scan& scan) {
  const std::vector<size_t> points = accepted_points(scan);
  std::vector<size_t> leaders;
  for (const charts::ScanSeries& series : charts::scan_series(only(scan, points)))
    for (const charts::ScanRow& row : series.rows) {
      const size_t point = scan.points[points[row.point]].same_as.value_or(points[row.point]);
      if ((row.best || row.tie) && std::ranges::count(leaders, point) == 0) leaders.push_back(point);
    }
  return leaders;
}

}  // namespace attnscope::sweep
