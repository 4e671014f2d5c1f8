#include "charts/bank_grid.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace attnscope::charts {
namespace {

constexpr int64_t kWord = 4, kBanks = 32, kChunk = 16, kLeastRow = 32;
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

const BankPhase* BankGrid::phase_of(int lane) const {
  const auto found =
      std::ranges::find_if(phases, [lane](const BankPhase& one) { return (one.lanes >> lane & 1) != 0; });
  return found == phases.end() ? nullptr : &*found;
}

BankGrid bank_grid(const SharedAccess& access) {
  BankGrid grid;
  for (const SharedPhase& served : phases_of(access)) {
    BankPhase& phase = grid.phases.emplace_back(BankPhase{served.lanes, served.wavefronts, {}});
    std::set<int64_t> seen;
    for (int lane = 0; lane < 32; ++lane) {
      if ((served.lanes >> lane & 1) == 0) continue;
      const int64_t first = access.at[size_t(lane)] / kWord;
      for (int64_t word = first; word < first + std::max<int64_t>(1, access.bytes / kWord); ++word) {
        ++grid.words[size_t(lane)][size_t(word % kBanks)];
        if (seen.insert(word).second) ++phase.distinct[size_t(word % kBanks)];
      }
    }
  }
  grid.wavefronts = wavefronts_of(access);
  return grid;
}

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

SharedAccess relaid(const SharedAccess& access, int64_t row, int64_t origin, const Layout& layout) {
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

}  // namespace attnscope::charts
