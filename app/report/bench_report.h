#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json_fwd.h"
#include "core/observation.h"
#include "core/problem.h"
#include "core/result.h"
#include "measure/statistics.h"

namespace attnscope {
namespace report {

// Something that is timed: a kernel, or a peer to compare the kernels with.
struct Entry {
  std::string label;        // "tiled", "tiled NUM_WARPS=8", "torch flash"
  std::string kernel;       // kernel id
  std::string kernel_hash;  // Kernel::content_hash
  bool peer = false;
  std::string device;     // the session's id of the device it ran on
  std::string version;    // the library's; empty: the report's versions of program and driver are enough
  bool baseline = false;  // other entries have a ratio to it, as to a peer
  bool operator==(const Entry&) const = default;
};

// A time relative to a peer's, or the baseline's, in the same row.
struct Ratio {
  size_t peer = 0;   // index into BenchReport::entries
  double ratio = 1;  // the peer's time over this one's: above 1, this one is faster
  // 95 %, from the ratios of the passes; empty if modelled, or after one pass.
  std::optional<measure::Interval> interval;
  bool tie() const { return interval && interval->contains(1); }
  bool operator==(const Ratio&) const = default;
};

enum class CellState {
  timed,          // correct or unchecked, and timed
  wrong,          // its output is wrong, so its time means nothing
  not_applicable  // it cannot run this problem here; the reason says why
};
}  // namespace report

template <>
struct Words<report::CellState> {
  using enum report::CellState;
  static constexpr WordTable<report::CellState, 3> table{
      {{timed, "timed"}, {wrong, "wrong"}, {not_applicable, "not applicable"}}};
};

namespace report {

// The errors of an output, and the tolerances of its verdict.
struct CellError {
  double max_abs = 0, rel_frobenius = 0;
  double atol = 0, rtol = 0, outside_share = 0;  // share of the elements outside atol + rtol * |reference|
  bool operator==(const CellError&) const = default;
};

// Where a config comes from.
enum class ConfigFrom {
  named,     // the user's knobs; or there is nothing to choose
  tuned,     // a tuned table's for this problem
  nearest,   // a tuned table's for another problem
  defaults,  // the manifest's, as the user wished
  untuned    // the manifest's, as no table has one that fits
};
}  // namespace report

template <>
struct Words<report::ConfigFrom> : NamesAsWords<report::ConfigFrom> {};

namespace report {

struct Cell {
  CellState state = CellState::not_applicable;
  std::string reason;  // why it was not timed or is wrong
  std::map<std::string, int64_t> knobs;
  CompileOptions options;
  std::string config;                     // "BLOCK_M=32 NUM_WARPS=4", and the options that are not the kernel's
  std::optional<ConfigFrom> config_from;  // empty in reports of earlier versions
  std::optional<Problem> tuned_for;       // if it is the nearest's
  FigureKind kind = FigureKind::modelled;
  double p10 = 0, p50 = 0, p90 = 0;           // us
  std::optional<measure::Interval> interval;  // us: 95 % interval of the median; empty if modelled, or after one pass
  int64_t samples = 0;
  double tflops = 0;
  VerdictState verdict = VerdictState::unchecked;
  std::optional<CellError> error;  // if the output was checked
  std::vector<Ratio> ratios;
  bool operator==(const Cell&) const = default;
};

struct Row {
  Problem problem;
  CacheState cache = CacheState::hot;
  std::vector<Cell> cells;  // one per entry, in order
  bool operator==(const Row&) const = default;
};

// Problems by entries on one device, timed in turn in one run.
struct BenchReport {
  static constexpr int kVersion = 1;
  std::string date;  // when it finished: "2026-11-21T12:00:00Z"
  std::string device, device_name;
  int arch = 0;
  bool emulated = false;  // every time of our own kernels is modelled
  Versions versions;
  int64_t blocks = 0;    // passes over a row's entries
  int64_t block_ms = 0;  // longest time for one entry in a pass
  std::vector<Entry> entries;
  std::vector<Row> rows;
  int version = kVersion;
  bool operator==(const BenchReport&) const = default;
};

Json to_json(const BenchReport& report);
// Every fault is a Failure (Stage::input) that names `where` and the JSON pointer.
Result<BenchReport> report_from_json(const Json& json, const std::string& where);

// "B1 H8 S512 D64 causal", with the dtype if it is not f16.
std::string problem_text(const Problem& problem);
// "1.31x (1.29 to 1.33)", "tie, 1.002x (0.998 to 1.006)", "1.31x, modelled", "0.0021x, one pass".
std::string ratio_text(const Ratio& ratio, FigureKind kind);
// The best peer of a row: the fastest of those that were timed. Empty if none was.
std::optional<size_t> best_peer(const BenchReport& report, const Row& row);
const Ratio* ratio_to(const Cell& cell, size_t peer);
// Of each config in the row that was not tuned for its problem: what it is, and the command that looks for a better
// one.
std::vector<std::string> config_notes(const BenchReport& report, const Row& row);
std::optional<size_t> baseline_of(const BenchReport& report);
// The conditions of the figures: "attnscope 0.1.0, NVRTC 13.0, driver …, 12 passes in turn …".
std::string footnote(const BenchReport& report);
// us with three significant digits, whole numbers from 100 on: "4.79", "51.1", "1,191".
std::string us_text(double us);

// For a terminal: one table per row, with the kind of its figures in the heading.
std::string as_table(const BenchReport& report);
// Markdown for a README: entries by problems, hot (cold if the report has no hot rows), each compared with the fastest
// peer.
std::string as_ladder(const BenchReport& report);
// The ladder, then one table per row.
std::string as_markdown(const BenchReport& report);
// One panel per row, with times on a logarithmic axis.
std::string as_svg(const BenchReport& report);

}  // namespace report
}  // namespace attnscope
