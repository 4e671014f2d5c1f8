#pragma once
#include <cstdint>

#include "core/shared_access.h"

namespace attnscope {

// Another layout of the rows in shared memory than the one that was recorded.
struct SharedLayout {
  int64_t padding = 0;   // bytes after each row
  bool swizzle = false;  // a row's 16-byte chunks are permuted by the lowest three bits of its number
};
// 16 bytes keep 16-byte accesses aligned.
inline constexpr SharedLayout kPaddedRows{.padding = 16, .swizzle = false},
    kSwizzledRows{.padding = 0, .swizzle = true};

// The distance between rows, in bytes, as far as the lanes reveal it: the greatest common divisor of their distances;
// for matrices, of rows of the same matrix only. If chunks are permuted within rows, it is the power of two for which
// each row of a matrix is in the row after the previous one. 0: the lanes are in one row, or too close for rows of at
// least 32 bytes.
int64_t row_bytes(const SharedAccess& access);

// The access in another layout, for rows of `row` > 0 bytes. Rows and chunks are counted from byte `origin`; no lane is
// below it. A swizzle permutes only within a row; a row with fewer than eight chunks of 16 bytes permutes only those.
SharedAccess relaid(const SharedAccess& access, int64_t row, int64_t origin, const SharedLayout& layout);
// The lowest byte that a lane accesses; 0 if no lane is active.
int64_t lowest_byte(const SharedAccess& access);

}  // namespace attnscope
