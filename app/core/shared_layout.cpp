#include "core/shared_layout.h"

#include <algorithm>
#include <numeric>

namespace attnscope {
namespace {

constexpr int64_t kChunk = 16, kLeastRow = 32;
constexpr int kMatrixRows = 8;

// True if each lane of a matrix is in the row after the previous lane's.
bool is_in_rows(const SharedAccess& access, int64_t row) {
  for (int lane = 1; lane < 32; ++lane)
    if (lane % kMatrixRows != 0 && access.active(lane) &&
        access.at[size_t(lane)] / row != access.at[size_t(lane - 1)] / row + 1)
      return false;
  return true;
}

int64_t row_of_permuted(const SharedAccess& access) {
  if (access.use != SharedUse::matrices || access.mask == 0) return 0;
  for (int64_t row = kLeastRow; row <= 1024; row *= 2)
    if (is_in_rows(access, row)) return row;
  return 0;
}

}  // namespace

int64_t lowest_byte(const SharedAccess& access) {
  int64_t least = INT64_MAX;
  for (int lane = 0; lane < 32; ++lane)
    if (access.active(lane)) least = std::min(least, access.at[size_t(lane)]);
  return least == INT64_MAX ? 0 : least;
}

int64_t row_bytes(const SharedAccess& access) {
  const int together = access.use == SharedUse::matrices ? kMatrixRows : 32;
  int64_t row = 0, from = 0;
  for (int lane = 0, first = -1; lane < 32; ++lane) {
    if (lane % together == 0) first = -1;
    if (!access.active(lane)) continue;
    if (first < 0) {
      first = lane;
      from = access.at[size_t(lane)];
    }
    row = std::gcd(row, access.at[size_t(lane)] - from);
  }
  return row >= kLeastRow ? row : row_of_permuted(access);
}

SharedAccess relaid(const SharedAccess& access, int64_t row, int64_t origin, const SharedLayout& layout) {
  SharedAccess made = access;
  int64_t chunks = 1;  // that the swizzle permutes; a power of two, at most eight
  while (chunks < 8 && 2 * chunks * kChunk <= row) chunks *= 2;
  for (int lane = 0; lane < 32; ++lane) {
    if (!access.active(lane)) continue;
    const int64_t from = access.at[size_t(lane)] - origin, number = from / row, column = from % row;
    int64_t chunk = column / kChunk;
    const bool whole = (chunk / chunks + 1) * chunks * kChunk <= row;  // the incomplete end of a row stays unchanged
    if (layout.swizzle && whole) chunk ^= number % chunks;
    made.at[size_t(lane)] = origin + number * (row + layout.padding) + chunk * kChunk + column % kChunk;
  }
  return made;
}

}  // namespace attnscope
