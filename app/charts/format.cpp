#include "charts/format.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <optional>

#include "core/with_commas.h"

namespace attnscope::charts {
namespace {

constexpr const char* kMinus = "\u2212";

// Enough decimals for about four significant digits.
std::string four_digits(double value) {
  const double size = std::fabs(value);
  if (size >= 1000) return with_commas(std::llround(value));
  if (size >= 100) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

// "2.08e-4", "1e-3": without trailing zeros.
std::string scientific(double value) {
  const std::string full = fmt::format("{:.2e}", value);
  const size_t e = full.find('e');
  std::string mantissa = full.substr(0, e);
  if (mantissa.find('.') != std::string::npos) {
    mantissa.erase(mantissa.find_last_not_of('0') + 1);
    if (mantissa.back() == '.') mantissa.pop_back();
  }
  return mantissa + "e" + std::to_string(std::stoi(full.substr(e + 1)));
}

bool in_ms(double us) { return std::fabs(us) >= 10000; }

}  // namespace

std::string bytes_text(int64_t bytes) { return with_commas(bytes) + " B"; }

std::string kib_text(int64_t bytes) {
  const double kib = static_cast<double>(bytes) / 1024.0;
  if (std::fabs(kib) >= 10000) return fmt::format("{:.1f} MB", kib / 1024);
  return std::fabs(kib - std::round(kib)) < 0.05 ? fmt::format("{:.0f} KB", kib) : fmt::format("{:.1f} KB", kib);
}

std::string count_text(double value) {
  const double size = std::fabs(value);
  for (const auto& [scale, unit] : {std::pair{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e4, " k"}}) {
    if (size < scale) continue;
    const double scaled = value / (scale == 1e4 ? 1e3 : scale);
    const double magnitude = std::fabs(scaled);
    return fmt::format("{:.{}f}{}", scaled, magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : 2, unit);
  }
  return value == std::round(value) ? with_commas(std::llround(value)) : fmt::format("{:.2f}", value);
}

std::string terminal_us(double us) { return fmt::format("{:.2f}", us); }
std::string us_unit(double us) { return in_ms(us) ? "ms" : "µs"; }
std::string us_number(double us) {
  if (!std::isfinite(us)) return error_text(us);
  return four_digits(in_ms(us) ? us / 1000 : us);
}
std::string us_text(double us) { return us_number(us) + " " + us_unit(us); }

std::string left_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s left", std::max(seconds, 1.0));
  if (seconds < 90 * 60) return fmt::format("{:.0f} min left", seconds / 60);
  return fmt::format("{:.1f} h left", seconds / 3600);
}

std::string percent_text(double fraction) {
  const double percent = fraction * 100;
  if (percent == 0) return "0 %";
  if (std::fabs(percent) < 0.1) return scientific(percent) + " %";
  return fmt::format("{:.1f} %", percent);
}

std::string signed_percent_text(double fraction) {
  const double percent = fraction * 100;
  if (std::fabs(percent) < 0.05) return "±0 %";
  return fmt::format("{}{:.1f} %", percent < 0 ? kMinus : "+", std::fabs(percent));
}

std::string error_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? std::string(kMinus) + "Inf" : "+Inf";
  if (value == 0) return "0";
  if (std::fabs(value) >= 0.01 && std::fabs(value) < 1000) return fmt::format("{:.4g}", value);
  return scientific(value);
}

namespace {
std::optional<std::tm> local_time(double seconds_since_epoch) {
  const std::time_t whole = static_cast<std::time_t>(seconds_since_epoch);
  std::tm local{};
  return localtime_r(&whole, &local) == nullptr ? std::nullopt : std::optional(local);
}
}  // namespace

std::string clock_text(double seconds_since_epoch) {
  const auto local = local_time(seconds_since_epoch);
  return local ? fmt::format("{:02}:{:02}:{:02}", local->tm_hour, local->tm_min, local->tm_sec) : "";
}

std::string when_text(double seconds_since_epoch, double now) {
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto then = local_time(seconds_since_epoch), today = local_time(now);
  if (!then || !today) return "";
  if (then->tm_year == today->tm_year && then->tm_yday == today->tm_yday) return clock_text(seconds_since_epoch);
  const std::string day = fmt::format("{} {}", then->tm_mday, kMonths[then->tm_mon]);
  return then->tm_year == today->tm_year ? day : fmt::format("{} {}", day, 1900 + then->tm_year);
}

}  // namespace attnscope::charts
