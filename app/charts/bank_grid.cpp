#include "charts/bank_grid.h"

#include <algorithm>
#include <set>

namespace attnscope::charts {
namespace {

constexpr int64_t kWord = 4, kBanks = 32;

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

}  // namespace attnscope::charts
