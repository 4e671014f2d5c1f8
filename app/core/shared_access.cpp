#include "core/shared_access.h"

#include <algorithm>

namespace attnscope {
namespace {

constexpr uint32_t kAllLanes = 0xffffffffu;

// The largest number of 4-byte words that one of the 32 banks must serve for these lanes: distinct ones, but for an
// atomic.
int bank_depth(const SharedAccess& access, uint32_t lanes) {
  int64_t words[32 * 4];
  int count = 0;
  for (int lane = 0; lane < 32; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    for (int64_t word = 0; word < std::max<int64_t>(1, access.bytes / 4); ++word)
      words[count++] = (access.at[lane] >> 2) + word;
  }
  std::sort(words, words + count);
  int depth[32] = {}, most = 0;
  for (int i = 0; i < count; ++i) {
    if (access.use != SharedUse::atomic && i > 0 && words[i] == words[i - 1]) continue;
    most = std::max(most, ++depth[words[i] & 31]);
  }
  return most;
}

// True if any two active lanes that differ only in `bit` access the same address.
bool pairs_agree(const SharedAccess& access, int bit) {
  for (int lane = 0; lane < 32; ++lane) {
    const int other = lane ^ bit;
    if (access.active(lane) && access.active(other) && access.at[lane] != access.at[other]) return false;
  }
  return true;
}

// Lanes per group, before groups are merged in pairs.
int group_size(const SharedAccess& access) { return access.bytes <= 4 ? 32 : access.bytes == 8 ? 16 : 8; }

uint32_t lanes_from(int first, int count) { return (count == 32 ? kAllLanes : (1u << count) - 1) << first; }

}  // namespace

SharedAccess SharedSteps::access(size_t step) const {
  const SharedStep& one = steps.at(step);
  SharedAccess made = shapes.at(static_cast<size_t>(one.shape));
  for (int lane = 0; lane < 32; ++lane)
    if (made.active(lane)) made.at[static_cast<size_t>(lane)] += one.base;
  return made;
}

const SharedPlace* place_of(const std::vector<SharedPlace>& places, int64_t byte) {
  const auto found = std::ranges::find_if(
      places, [byte](const SharedPlace& place) { return byte >= place.begin && byte - place.begin < place.bytes; });
  return found == places.end() ? nullptr : &*found;
}

SharedPhases phases_of(const SharedAccess& access) {
  const bool paired =
      access.bytes > 4 && access.use == SharedUse::load && (pairs_agree(access, 1) || pairs_agree(access, 2));
  const int size = group_size(access) * (paired ? 2 : 1);
  SharedPhases phases;
  for (int first = 0; first < 32; first += size) {
    const uint32_t lanes = static_cast<uint32_t>(access.mask) & lanes_from(first, size);
    if (lanes != 0) phases.all[static_cast<size_t>(phases.count++)] = {lanes, bank_depth(access, lanes)};
  }
  return phases;
}

Wavefronts wavefronts_of(const SharedAccess& access) {
  int taken = 0, groups = 0;
  for (const SharedPhase& phase : phases_of(access)) taken += phase.wavefronts;
  const int size = group_size(access);
  for (int first = 0; first < 32; first += size)
    groups += (static_cast<uint32_t>(access.mask) & lanes_from(first, size)) != 0;
  return {taken, std::min(taken, groups)};
}

}  // namespace attnscope
