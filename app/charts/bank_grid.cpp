#include "charts/bank_grid.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace attnscope::charts {
namespace {

constexpr int64_t kWord = 4, kBanks = 32, kChunk = 16, kLeastRow = 32;

int64_t lowest(const SharedAccess& access) {
  int64_t least = INT64_MAX;
  for (int lane = 0; lane < 32; ++lane)
    if (access.active(lane)) least = std::min(least, access.at[lane]);
  return least;
}

}  // namespace

BankGrid bank_grid(const SharedAccess& access) {
  BankGrid grid;
  std::set<int64_t> seen;
  for (int lane = 0; lane < 32; ++lane) {
    if (!access.active(lane)) continue;
    const int64_t first = access.at[lane] / kWord;
    for (int64_t word = first; word < first + std::max<int64_t>(1, access.bytes / kWord); ++word) {
      ++grid.words[lane][word % kBanks];
      if (seen.insert(word).second) ++grid.distinct[word % kBanks];
    }
  }
  grid.wavefronts = wavefronts_of(access);
  return grid;
}

int64_t row_bytes(const SharedAccess& access) {
  if (access.mask == 0) return 0;
  const int64_t least = lowest(access);
  int64_t row = 0;
  for (int lane = 0; lane < 32; ++lane)
    if (access.active(lane)) row = std::gcd(row, access.at[lane] - least);
  return row >= kLeastRow ? row : 0;
}

SharedAccess relaid(const SharedAccess& access, int64_t row, const Layout& layout) {
  SharedAccess made = access;
  const int64_t first = access.mask == 0 ? 0 : lowest(access);
  int64_t chunks = 1;  // that the swizzle permutes: a power of two, at most eight
  while (chunks < 8 && 2 * chunks * kChunk <= row) chunks *= 2;
  for (int lane = 0; lane < 32; ++lane) {
    if (!access.active(lane)) continue;
    const int64_t number = (access.at[lane] - first) / row, column = (access.at[lane] - first) % row;
    int64_t chunk = column / kChunk;
    if (layout.swizzle) chunk ^= number % chunks;
    made.at[lane] = first + number * (row + layout.padding) + chunk * kChunk + column % kChunk;
  }
  return made;
}

}  // namespace attnscope::charts
