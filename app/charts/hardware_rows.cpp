#include "charts/hardware_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "charts/format.h"
#include "core/observation_fields.h"
#include "core/sampled_line.h"

namespace attnscope::charts {
namespace {

std::string value_text(const HardwareRow& row, int64_t value) {
  return row.bytes ? bytes_text(value) : with_commas(value);
}
std::string value_text(const HardwareRow&, double percent) { return fmt::format("{:.1f} %", percent); }

// Two decimals, because a difference of a thousandth matters here.
std::string difference_text(double measured, double counted) {
  if (measured == counted) return "equal";
  if (counted == 0) return "none counted";
  const double percent = (measured / counted - 1) * 100;
  return std::abs(percent) < 0.01 ? fmt::format("{:+.0f}", measured - counted) : fmt::format("{:+.2f} %", percent);
}

constexpr std::string_view kIssues = "selected";  // CUPTI's word for a warp that does not wait

std::string share_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string wait_text(const SampledPlace& place) {
  const auto waits = std::ranges::find_if(place.stalls, [](const SampledStall& one) { return one.reason != kIssues; });
  if (waits == place.stalls.end()) return {};
  std::string word = waits->reason;
  std::ranges::replace(word, '_', ' ');
  return fmt::format("{} {:.0f} %", word, 100 * double(waits->samples) / double(std::max<int64_t>(1, place.samples)));
}

// The share of the samples at that line; empty: the findings have no samples.
std::string share_at(const std::vector<Finding>& findings, const std::string& file, int64_t line) {
  bool sampled = false;
  for (const Finding& finding : findings) {
    const auto one = sampled_line_of(finding);
    sampled = sampled || one;
    if (one && one->file == file && one->line == line) return share_text(one->share);
  }
  return sampled ? share_text(0) : "";
}

}  // namespace

std::vector<HardwareFigure> hardware_figures(const HardwareCounters& hardware, const Counters* counted,
                                             const HardwareCounters* a) {
  const bool whole = counted != nullptr && counted->emulated_ctas >= counted->total_ctas;
  std::vector<HardwareFigure> figures;
  for_each_hardware_counter([&](const HardwareRow& row, auto member) {
    const auto& value = hardware.*member;
    const auto text = [&](const auto& one) { return one ? value_text(row, *one) : std::string("\u2013"); };
    HardwareFigure figure{std::string(label(row.label)), text(value), {}, {}, a != nullptr ? text(a->*member) : ""};
    if (row.counted != nullptr && whole) {
      const int64_t count = row.counted(*counted);
      figure.counted = with_commas(count);
      if (value) figure.difference = difference_text(static_cast<double>(*value), static_cast<double>(count));
    }
    figures.push_back(std::move(figure));
  });
  return figures;
}

const HardwareCounters* read_counters(const Observation* reading) {
  const bool there = reading != nullptr && !reading->failure && reading->hardware && !reading->hardware->failure;
  return there ? &*reading->hardware : nullptr;
}

std::vector<SampleRow> sample_rows(const std::vector<Finding>& findings, size_t most, const std::vector<Finding>* a) {
  std::vector<SampleRow> rows;
  for (const Finding& finding : findings) {
    const auto line = rows.size() < most ? sampled_line_of(finding) : std::nullopt;
    if (!line) continue;
    const std::string file = line->file.substr(line->file.find_last_of('/') + 1);
    rows.push_back({line->line > 0 ? fmt::format("{}:{}", file, line->line) : "no line", share_text(line->share),
                    line->modelled ? share_text(*line->modelled) : "\u2013", wait_text(*line),
                    a != nullptr ? share_at(*a, line->file, line->line) : ""});
  }
  return rows;
}

SamplesTaken samples_taken(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    const bool refused = finding.rule.id() == RuleId::samples_refused;
    if (refused || finding.rule.id() == RuleId::samples_taken) return {finding.sentence, refused};
  }
  return {};
}

}  // namespace attnscope::charts
