#include "report/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/experiment_fields.h"
#include "core/observation_fields.h"
#include "core/with_commas.h"

namespace attnscope {

namespace {
constexpr Limits kMany{.most = 10000, .required = true};  // limit for rows, entries and cells of a report
constexpr Limits kId{.bytes = 200}, kText{.bytes = 2000};
constexpr Limits kRequired{.required = true};

// Null means that there is none.
void read_interval(JsonReader& read, std::optional<measure::Interval>& out) {
  std::optional<std::array<double, 2>> both;
  fields::read(read, "interval", both, {});
  if (both) out = measure::Interval{both->front(), both->back()};
}

Json interval_json(const std::optional<measure::Interval>& interval) {
  return interval ? Json{interval->low, interval->high} : Json(nullptr);
}
}  // namespace

template <>
struct FieldsOf<report::Ratio> {
  using Of = report::Ratio;
  static constexpr auto list = std::tuple{Field{"peer", &Of::peer, kRequired}, Field{"ratio", &Of::ratio}};
  static void check(JsonReader& read, Of& ratio) {
    read_interval(read, ratio.interval);
    read.ignore("tie");  // derived from the interval
  }
  static void finish(Json& json, const Of& ratio) {
    json["interval"] = interval_json(ratio.interval);
    json["tie"] = ratio.tie();
  }
};

template <>
struct FieldsOf<report::CellError> {
  using Of = report::CellError;
  static constexpr Limits kOpen{.open = true};
  static constexpr auto list =
      std::tuple{Field{"max_abs", &Of::max_abs, kOpen}, Field{"rel_frobenius", &Of::rel_frobenius, kOpen},
                 Field{"atol", &Of::atol}, Field{"rtol", &Of::rtol},
                 Field{"outside_share", &Of::outside_share, Limits{.low = 0, .high = 1}}};
};

template <>
struct FieldsOf<report::Cell> {
  using Of = report::Cell;
  static constexpr auto list = std::tuple{
      Field{"state", &Of::state, kRequired},
      Field{"reason", &Of::reason},
      Field{"config", &Of::config},
      Field{"knobs", &Of::knobs},
      Field{"options", &Of::options, Limits{.sparse = true}},
      Field{"config_from", &Of::config_from, Limits{.sparse = true}},
      Field{"tuned_for", &Of::tuned_for, Limits{.sparse = true}},
      Field{"error", &Of::error, Limits{.sparse = true}},
      When{"state", &Of::state, report::CellState::timed, true,
           std::tuple{Field{"kind", &Of::kind},
                      Group{"us", std::tuple{Field{"p10", &Of::p10, kRequired}, Field{"p50", &Of::p50, kRequired},
                                             Field{"p90", &Of::p90, kRequired}}},
                      Field{"samples", &Of::samples, limits::kCount}, Field{"tflops", &Of::tflops},
                      Field{"verdict", &Of::verdict}, Field{"ratios", &Of::ratios, kMany}}}};
  static void check(JsonReader& read, Of& cell) {
    if (cell.state != report::CellState::timed) return;
    read.required("us");
    read_interval(read, cell.interval);
    if (!(cell.p50 > 0)) read.fault("us/p50", "must be above 0");
  }
  static void finish(Json& json, const Of& cell) {
    if (cell.state == report::CellState::timed) json["interval"] = interval_json(cell.interval);
  }
};

template <>
struct FieldsOf<report::Row> {
  using Of = report::Row;
  static constexpr auto list = std::tuple{Field{"problem", &Of::problem, kRequired}, Field{"cache", &Of::cache},
                                          Field{"cells", &Of::cells, kMany}};
};

template <>
struct FieldsOf<report::Entry> {
  using Of = report::Entry;
  static constexpr auto list = std::tuple{Field{"label", &Of::label, Limits{.bytes = 2000, .required = true}},
                                          Field{"kernel", &Of::kernel, Limits{.bytes = 200, .required = true}},
                                          Field{"hash", &Of::kernel_hash, Limits{.bytes = 64}},
                                          Field{"peer", &Of::peer},
                                          Field{"device", &Of::device, kId},
                                          Field{"version", &Of::version, kText},
                                          Field{"baseline", &Of::baseline}};
};

template <>
struct FieldsOf<report::BenchReport> {
  using Of = report::BenchReport;
  static constexpr auto list =
      std::tuple{Field{"attnscope_bench", &Of::version, Limits{.low = 1, .high = Of::kVersion, .required = true}},
                 Field{"date", &Of::date, Limits{.bytes = 100}},
                 Group{"device", std::tuple{Field{"id", &Of::device, kId}, Field{"name", &Of::device_name, kId},
                                            Field{"arch", &Of::arch, Limits{.low = 0, .high = 200}},
                                            Field{"emulated", &Of::emulated}}},
                 Field{"versions", &Of::versions, kRequired},
                 Field{"blocks", &Of::blocks, limits::kCount},
                 Field{"block_ms", &Of::block_ms, limits::kCount},
                 Field{"entries", &Of::entries, kMany},
                 Field{"rows", &Of::rows, kMany}};
  // Checks that there are as many cells as entries, and that the peers exist.
  static void check(JsonReader& read, Of& report) {
    read.required("device");
    for (size_t r = 0; r < report.rows.size(); ++r) {
      const report::Row& row = report.rows[r];
      if (row.cells.size() != report.entries.size())
        read.fault(fmt::format("rows/{}/cells", r),
                   fmt::format("{} for {} entries", row.cells.size(), report.entries.size()));
      for (const report::Cell& cell : row.cells)
        for (const report::Ratio& ratio : cell.ratios)
          if (ratio.peer >= report.entries.size())
            read.fault(fmt::format("rows/{}", r), fmt::format("there is no entry {}", ratio.peer));
    }
  }
};

namespace report {

Json to_json(const BenchReport& report) { return write_fields(report); }

Result<BenchReport> report_from_json(const Json& json, const std::string& where) {
  return read_fields<BenchReport>(json, where, Stage::input);
}

std::string problem_text(const Problem& problem) {
  std::string text = short_text(problem);
  if (problem.dtype != DType::f16) text += " " + std::string(attnscope::to_string(problem.dtype));
  if (problem.layout != Layout::BHSD) text += " " + std::string(attnscope::to_string(problem.layout));
  return text;
}

std::string us_text(double us) {
  if (us < 10) return fmt::format("{:.2f}", us);
  if (us < 100) return fmt::format("{:.1f}", us);
  return with_commas(std::llround(us));
}

std::string ratio_text(const Ratio& r, FigureKind kind) {
  if (!r.interval) return fmt::format("{:.3g}x, {}", r.ratio, kind == FigureKind::measured ? "one pass" : "modelled");
  // A narrow interval gets one more digit, so that a small difference is visible.
  const int digits = r.interval->half_width() < 0.005 * r.ratio ? 3 : 2;
  return fmt::format("{}{:.{}f}x ({:.{}f} to {:.{}f})", r.tie() ? "tie, " : "", r.ratio, digits, r.interval->low,
                     digits, r.interval->high, digits);
}

std::optional<size_t> best_peer(const BenchReport& report, const Row& row) {
  std::optional<size_t> best;
  for (size_t i = 0; i < row.cells.size(); ++i)
    if (report.entries[i].peer && row.cells[i].state == CellState::timed &&
        (!best || row.cells[i].p50 < row.cells[*best].p50))
      best = i;
  return best;
}

std::optional<size_t> baseline_of(const BenchReport& report) {
  const auto found = std::ranges::find_if(report.entries, &Entry::baseline);
  if (found == report.entries.end()) return std::nullopt;
  return static_cast<size_t>(found - report.entries.begin());
}

const Ratio* ratio_to(const Cell& cell, size_t peer) {
  for (const Ratio& ratio : cell.ratios)
    if (ratio.peer == peer) return &ratio;
  return nullptr;
}

}  // namespace report
}  // namespace attnscope
