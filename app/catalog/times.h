#pragma once
#include <cstdint>

namespace attnscope::catalog {

// The product; the largest number where it is larger, which no size or extent equals.
inline int64_t times(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

}  // namespace attnscope::catalog
