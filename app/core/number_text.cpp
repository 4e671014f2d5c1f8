#include "core/number_text.h"

#include <fmt/format.h>

#include <cmath>

#include "core/with_commas.h"

namespace attnscope {

std::string number_text(double value, int digits) {
  const double size = std::fabs(value);
  const bool whole = size >= std::pow(10, digits - 1) && size < 1e15;
  return whole ? with_commas(std::llround(value)) : fmt::format("{:.{}g}", value, digits);
}

}  // namespace attnscope
