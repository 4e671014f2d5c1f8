#include "charts/hardware_rows.h"

#include <fmt/format.h>

#include "charts/format.h"
#include "core/observation_fields.h"

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

}  // namespace

std::vector<HardwareFigure> hardware_figures(const HardwareCounters& hardware, const Counters* counted) {
  const bool whole = counted != nullptr && counted->emulated_ctas >= counted->total_ctas;
  std::vector<HardwareFigure> figures;
  for_each_hardware_counter([&](const HardwareRow& row, auto member) {
    const auto& value = hardware.*member;
    HardwareFigure figure{std::string(label(row.label)), value ? value_text(row, *value) : "\u2013", {}, {}};
    if (row.counted != nullptr && whole) {
      const int64_t count = row.counted(*counted);
      figure.counted = with_commas(count);
      if (value) figure.difference = difference_text(static_cast<double>(*value), static_cast<double>(count));
    }
    figures.push_back(std::move(figure));
  });
  return figures;
}

}  // namespace attnscope::charts
