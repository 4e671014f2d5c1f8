#include "core/with_commas.h"

namespace attnscope {

std::string with_commas(int64_t value) {
  std::string digits = std::to_string(value);
  const size_t first = value < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, ",");
  return digits;
}

}  // namespace attnscope
