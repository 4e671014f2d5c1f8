#pragma once
#include <cstdint>
#include <string>

#include "core/with_commas.h"

namespace attnscope::charts {

std::string bytes_text(int64_t bytes);      // "36,928 B": exact, because a single byte can exceed a limit
std::string kib_text(int64_t bytes);        // "36.1 KB", "16.5 MB", for axes and narrow places; KB means 1,024 B here
std::string count_text(double value);       // "812", "12.4 k", "3.10 M", "1.20 G": three significant digits
std::string us_text(double us);             // "839.4 µs", "2,870 µs", "5.49 µs"; from 10 ms on "12.3 ms"
std::string us_number(double us);           // the figure of us_text() without its unit
std::string us_unit(double us);             // the unit of us_text(): "µs" or "ms"
std::string terminal_us(double us);         // "839.38", "5.49": always in us, for the terminal's columns
std::string left_text(double seconds);      // "12 s left", "3 min left", "1.5 h left"
std::string percent_text(double fraction);  // 0.333 → "33.3 %"
std::string signed_percent_text(double fraction);    // -0.184 → "−18.4 %"
std::string error_text(double value);                // "2.44e-4", "0", "NaN", "+Inf"
std::string clock_text(double seconds_since_epoch);  // local time of day, "14:03:27"
// The time of day, or the date if it differs from that of `now`: "21 Nov", with the year if that differs too.
std::string when_text(double seconds_since_epoch, double now);

}  // namespace attnscope::charts
