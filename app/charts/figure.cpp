#include "charts/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "charts/format.h"

namespace attnscope::charts {
namespace {

constexpr size_t kMostMarks = 8;

FigureAxis time_axis(const LatencyAxis& axis) {
  FigureAxis made{"time, us", axis.low, axis.high, axis.log, {}};
  for (const double us : axis_marks(axis, kMostMarks)) made.marks.emplace_back(us, mark_text(us));
  return made;
}

// Powers of ten within the axis.
FigureAxis log_axis(const std::string& title, double low, double high) {
  FigureAxis made{title, low, high, true, {}};
  for (double at = std::pow(10, std::ceil(std::log10(low))); at <= high; at *= 10)
    made.marks.emplace_back(at, fmt::format("{:.6g}", at));
  return made;
}

FigureAxis linear_axis(const std::string& title, double high) {
  const double top = nice_top(high);
  FigureAxis made{title, 0, top, false, {}};
  for (int at = 0; at <= 4; ++at) made.marks.emplace_back(top * at / 4, with_commas(std::llround(top * at / 4)));
  if (top < 8) {  // whole numbers would repeat
    made.marks.clear();
    for (int at = 0; at <= 4; ++at) made.marks.emplace_back(top * at / 4, fmt::format("{:.3g}", top * at / 4));
  }
  return made;
}

Cell time_cell(const LatencyColumn& column, double us) {
  return column.state == ColumnState::timed ? Cell(us) : Cell();
}

}  // namespace

Figure figure_of(const LatencyChart& chart, AxisChoice choice, uint64_t a, uint64_t b) {
  Figure made{.title = "Every run", .note = "a bar from the tenth to the ninetieth percentile, in us"};
  made.y = time_axis(latency_axis(chart, choice, 0.1));
  made.x = {"run", -0.75, std::max(8.0, static_cast<double>(chart.columns.size())) - 0.25, false, {}};
  made.sheet.columns = {"run",    "change",  "kernel", "config", "problem", "device",  "us",
                        "us_low", "us_high", "us_p10", "us_p90", "kind",    "verdict", "failed_at"};
  const size_t every = std::max<size_t>(1, (chart.columns.size() + 15) / 16);
  for (size_t at = 0; at < chart.columns.size(); ++at) {
    const LatencyColumn& column = chart.columns[at];
    const std::string number = std::to_string(column.run);
    const bool named = column.run == a || column.run == b;
    if (at % every == 0 || named)
      made.x.marks.emplace_back(static_cast<double>(column.x), column.run == a ? number + " A"
                                                               : named         ? number + " B"
                                                                               : number);
    const bool timed = column.state == ColumnState::timed;
    if (timed)
      made.points.push_back({static_cast<double>(column.x), column.p50, column.p10, column.p90, column.kind,
                             column.headline && is_fault(*column.headline), named ? us_text(column.p50) : ""});
    made.sheet.rows.push_back(
        {static_cast<int64_t>(column.run), column.change, column.kernel, column.config_text, column.problem,
         column.device, time_cell(column, column.p50), time_cell(column, column.interval_low),
         time_cell(column, column.interval_high), time_cell(column, column.p10), time_cell(column, column.p90),
         timed ? Cell(std::string(to_string(column.kind))) : Cell(),
         column.headline ? Cell(std::string(to_string(*column.headline))) : Cell(), column.failure});
  }
  return made;
}

Figure figure_of(const ScanSeries& series, const std::string& note) {
  Figure made{.title = "Time by " + series.knob, .note = note};
  made.y = linear_axis("time, us", series.most);
  made.x = {series.knob, -0.6, static_cast<double>(series.rows.size()) - 0.4, false, {}};
  made.sheet.columns = {series.knob, "state", "us", "kind", "verdict", "reason", "warning", "same_as", "best"};
  FigureLine through{"", {}, false};
  for (size_t at = 0; at < series.rows.size(); ++at) {
    const ScanRow& row = series.rows[at];
    const auto x = static_cast<double>(at);
    made.x.marks.emplace_back(x, row.text);
    if (row.us) {
      made.points.push_back({x, *row.us, 0, 0, row.kind, row.state == ScanState::faulty,
                             row.best  ? "fastest"
                             : row.tie ? "tie"
                                       : std::string(label(row.verdict))});
      through.points.emplace_back(x, *row.us);
    }
    made.sheet.rows.push_back({row.text, std::string(to_string(row.state)), row.us ? Cell(*row.us) : Cell(),
                               row.us ? Cell(std::string(to_string(row.kind))) : Cell(),
                               std::string(label(row.verdict)), row.reason, row.warning, row.same_as,
                               std::string(row.best  ? "best"
                                           : row.tie ? "tie"
                                                     : "")});
  }
  made.lines.push_back(std::move(through));
  return made;
}

Figure figure_of(const Roofline& roofline, const std::string& device) {
  Figure made{.title = "Roofline of " + device, .note = "operations for each byte that any kernel must move"};
  made.x = log_axis("operations a byte", roofline.x_low, roofline.x_high);
  made.y = log_axis("TFLOP/s", roofline.y_low, roofline.y_high);
  for (const Roof& roof : roofline.roofs)
    made.lines.push_back(
        {roof.name,
         {{roofline.x_low, roof.tflops(roofline.x_low)}, {roofline.x_high, roof.tflops(roofline.x_high)}},
         roof.bandwidth});
  made.sheet.columns = {"run", "operations_a_byte", "tflops", "kind", "roof", "share_of_roof"};
  for (const RooflinePoint& point : roofline.points) {
    made.points.push_back({point.intensity, point.tflops, 0, 0, point.kind, point.faulty,
                           point.is_b   ? "B"
                           : point.is_a ? "A"
                                        : ""});
    made.sheet.rows.push_back({static_cast<int64_t>(point.run), point.intensity, point.tflops,
                               std::string(to_string(point.kind)), point.roof, point.share});
  }
  return made;
}

Figure figure_of(const MemoryStack& stack) {
  Figure made{.title = "Shared memory of one SM", .note = "a row a CTA; limits as lines"};
  const auto rows = static_cast<double>(std::max<int64_t>(stack.ctas, 1));
  made.x = linear_axis("bytes", static_cast<double>(stack.scale_bytes));
  made.y = {"", -0.6, rows - 0.4, false, {}};
  made.sheet.columns = {"buffer", "begin", "end", "bytes", "part"};
  const double stride = static_cast<double>(stack.total_bytes + stack.reserved_bytes);
  for (double cta = 0; cta < rows; ++cta) {
    made.y.marks.emplace_back(cta, fmt::format("CTA {}", cta));
    for (size_t at = 0; at < stack.segments.size(); ++at) {
      const MemorySegment& segment = stack.segments[at];
      made.bars.push_back({cta, cta * stride + static_cast<double>(segment.begin),
                           cta * stride + static_cast<double>(segment.end), cta > 0 ? "" : segment.name, at});
    }
  }
  for (const MemorySegment& segment : stack.segments)
    made.sheet.rows.push_back({segment.name, segment.begin, segment.end, segment.bytes(),
                               std::string(segment.padding   ? "padding"
                                           : segment.dynamic ? "dynamic"
                                                             : "static")});
  for (const MemoryMark& mark : stack.marks) {
    const auto x = static_cast<double>(mark.bytes);
    made.lines.push_back({mark.label, {{x, made.y.low}, {x, made.y.high}}, true});
  }
  return made;
}

Figure figure_of(const TermTable& table) {
  Figure made{.title = "The modelled time, term by term",
              .note = table.against ? "of each pair A is above B" : "of the shown run"};
  double most = 0;
  for (const TermRow& row : table.rows) most = std::max({most, row.a, row.b});
  made.x = linear_axis("us", most);
  made.y = {"", static_cast<double>(table.rows.size()) - 0.4, -0.6, false, {}};  // the first term is on top
  made.sheet.columns = table.against ? std::vector<std::string>{"term", "a_us", "b_us", "difference_us"}
                                     : std::vector<std::string>{"term", "us"};
  for (size_t at = 0; at < table.rows.size(); ++at) {
    const TermRow& row = table.rows[at];
    const auto y = static_cast<double>(at);
    const std::string name(to_string(row.kind));
    made.y.marks.emplace_back(y, name);
    if (table.against) {
      made.bars.push_back({y - 0.2, 0, row.a, us_text(row.a), 1});
      made.bars.push_back({y + 0.2, 0, row.b, us_text(row.b), 0});
      made.sheet.rows.push_back({name, row.a, row.b, row.difference()});
    } else {
      made.bars.push_back({y, 0, row.b, us_text(row.b), 0});
      made.sheet.rows.push_back({name, row.b});
    }
  }
  return made;
}

}  // namespace attnscope::charts
