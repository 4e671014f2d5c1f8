#include "report/bench_report.h"

#include <fmt/format.h>

#include <cmath>

#include "core/json.h"
#include "core/with_commas.h"

namespace attnscope::report {
namespace {

constexpr size_t kMost = 10000;  // rows, entries, cells of a report

Json interval_json(const std::optional<measure::Interval>& interval) {
  return interval ? Json{interval->low, interval->high} : Json(nullptr);
}

Json to_json(const Cell& cell) {
  Json ratios = Json::array();
  for (const Ratio& r : cell.ratios)
    ratios.push_back({{"peer", r.peer}, {"ratio", r.ratio}, {"interval", interval_json(r.interval)}, {"tie", r.tie()}});
  Json json{{"state", word_of(cell.state)}, {"reason", cell.reason}, {"knobs", cell.knobs}, {"config", cell.config}};
  if (cell.state != CellState::timed) return json;
  json.update({{"kind", word_of(cell.kind)},
               {"us", {{"p10", cell.p10}, {"p50", cell.p50}, {"p90", cell.p90}}},
               {"interval", interval_json(cell.interval)},
               {"samples", cell.samples},
               {"tflops", cell.tflops},
               {"verdict", word_of(cell.verdict)},
               {"ratios", ratios}});
  return json;
}

template <class T, class One>
void read_list(JsonReader& read, const char* key, std::vector<T>& out, One one) {
  read.required(key);
  read.list(key, out, kMost, one);
}

void read_interval(JsonReader& read, std::optional<measure::Interval>& out) {
  if (!read.has("interval")) return;
  const Json& json = *read.value("interval");
  if (!json.is_array() || json.size() != 2 || !json[0].is_number() || !json[1].is_number())
    return read.fault("interval", "must be two numbers");
  out = measure::Interval{json[0].get<double>(), json[1].get<double>()};
}

Result<Ratio> ratio_from_json(const Json& json, const std::string& where) {
  Ratio ratio;
  JsonReader read(json, where);
  int64_t peer = 0;
  read.required("peer");
  read.integer("peer", peer, 0, kMost);
  read.number("ratio", ratio.ratio);
  read_interval(read, ratio.interval);
  read.ignore("tie");  // follows from the interval
  if (auto done = read.finish(); !done) return fail(done.error());
  ratio.peer = static_cast<size_t>(peer);
  return ratio;
}

void read_us(JsonReader& read, Cell& cell) {
  read.required("us");
  read.object("us", [&](JsonReader& us) {
    for (const char* key : {"p10", "p50", "p90"}) us.required(key);
    us.number("p10", cell.p10);
    us.number("p50", cell.p50);
    us.number("p90", cell.p90);
    if (!us.failed() && !(cell.p50 > 0)) us.fault("p50", "must be above 0");
  });
}

Result<Cell> cell_from_json(const Json& json, const std::string& where) {
  Cell cell;
  JsonReader read(json, where);
  read.required("state");
  read.word("state", cell.state);
  read.text("reason", cell.reason);
  read.text("config", cell.config);
  read.entries("knobs", [&](JsonReader& inner, const char* name) { inner.integer(name, cell.knobs[name]); });
  if (cell.state == CellState::timed) {
    read.word("kind", cell.kind);
    read_us(read, cell);
    read_interval(read, cell.interval);
    read.integer("samples", cell.samples, 0);
    read.number("tflops", cell.tflops);
    read.word("verdict", cell.verdict);
    read_list(read, "ratios", cell.ratios, ratio_from_json);
  }
  if (auto done = read.finish(); !done) return fail(done.error());
  return cell;
}

Result<Row> row_from_json(const Json& json, const std::string& where) {
  Row row;
  JsonReader read(json, where);
  read.required("problem");
  read.part("problem", row.problem, problem_from_json);
  read.word("cache", row.cache);
  read_list(read, "cells", row.cells, cell_from_json);
  if (auto done = read.finish(); !done) return fail(done.error());
  return row;
}

Result<Entry> entry_from_json(const Json& json, const std::string& where) {
  Entry entry;
  JsonReader read(json, where);
  for (const char* key : {"label", "kernel"}) read.required(key);
  read.text("label", entry.label, 2000);
  read.text("kernel", entry.kernel, 200);
  read.text("hash", entry.kernel_hash, 64);
  read.boolean("peer", entry.peer);
  read.text("device", entry.device, 200);
  read.text("version", entry.version, 2000);
  if (auto done = read.finish(); !done) return fail(done.error());
  return entry;
}

// What cannot be checked in a single object: as many cells as entries, and peers that exist.
Result<void> check_whole(const BenchReport& report, const std::string& where) {
  for (size_t r = 0; r < report.rows.size(); ++r) {
    const Row& row = report.rows[r];
    if (row.cells.size() != report.entries.size())
      return fail(Stage::input, fmt::format("{}/rows/{}/cells: {} for {} entries", where, r, row.cells.size(),
                                            report.entries.size()));
    for (const Cell& cell : row.cells)
      for (const Ratio& ratio : cell.ratios)
        if (ratio.peer >= report.entries.size())
          return fail(Stage::input, fmt::format("{}/rows/{}: there is no entry {}", where, r, ratio.peer));
  }
  return {};
}

}  // namespace

Json to_json(const BenchReport& report) {
  Json entries = Json::array(), rows = Json::array();
  for (const Entry& e : report.entries)
    entries.push_back({{"label", e.label},
                       {"kernel", e.kernel},
                       {"hash", e.kernel_hash},
                       {"peer", e.peer},
                       {"device", e.device},
                       {"version", e.version}});
  for (const Row& row : report.rows) {
    Json cells = Json::array();
    for (const Cell& cell : row.cells) cells.push_back(to_json(cell));
    rows.push_back({{"problem", attnscope::to_json(row.problem)}, {"cache", word_of(row.cache)}, {"cells", cells}});
  }
  return Json{
      {"attnscope_bench", BenchReport::kVersion},
      {"date", report.date},
      {"device",
       {{"id", report.device}, {"name", report.device_name}, {"arch", report.arch}, {"emulated", report.emulated}}},
      {"versions", attnscope::to_json(report.versions)},
      {"blocks", report.blocks},
      {"block_ms", report.block_ms},
      {"entries", entries},
      {"rows", rows}};
}

Result<BenchReport> report_from_json(const Json& json, const std::string& where) {
  BenchReport report;
  JsonReader read(json, where);
  int version = 0;
  for (const char* key : {"attnscope_bench", "device", "versions"}) read.required(key);
  read.integer("attnscope_bench", version, 1, BenchReport::kVersion);
  read.text("date", report.date, 100);
  read.integer("blocks", report.blocks, 0);
  read.integer("block_ms", report.block_ms, 0);
  read.object("device", [&](JsonReader& device) {
    device.text("id", report.device, 200);
    device.text("name", report.device_name, 200);
    device.integer("arch", report.arch, 0, 200);
    device.boolean("emulated", report.emulated);
  });
  if (read.has("versions")) {
    Observation holder;  // apply_part can read versions
    if (auto applied = apply_part(holder, Json{{"versions", *read.value("versions")}}); applied)
      report.versions = holder.versions;
    else
      read.fault("versions", applied.error().message);
  }
  read_list(read, "entries", report.entries, entry_from_json);
  read_list(read, "rows", report.rows, row_from_json);
  if (auto done = read.finish(); !done) return fail(done.error());
  if (auto whole = check_whole(report, where); !whole) return fail(whole.error());
  return report;
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
  // One more digit when the interval is narrow, so that a difference that was found is visible.
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

const Ratio* ratio_to(const Cell& cell, size_t peer) {
  for (const Ratio& ratio : cell.ratios)
    if (ratio.peer == peer) return &ratio;
  return nullptr;
}

}  // namespace attnscope::report
