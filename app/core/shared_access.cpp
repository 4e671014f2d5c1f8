#include "core/shared_access.h"

#include <algorithm>

namespace attnscope {
namespace {

constexpr uint32_t kAllLanes = 0xffffffffu;

// The largest number of distinct 4-byte words that one of the 32 banks must serve for these lanes.
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
    if (i > 0 && words[i] == words[i - 1]) continue;
    most = std::max(most, ++depth[words[i] & 31]);
  }
  return most;
}

// Whether every two active lanes that differ only in `bit` access the same address.
bool pairs_agree(const SharedAccess& access, int bit) {
  for (int lane = 0; lane < 32; ++lane) {
    const int other = lane ^ bit;
    if (access.active(lane) && access.active(other) && access.at[lane] != access.at[other]) return false;
  }
  return true;
}

}  // namespace

Wavefronts wavefronts_of(const SharedAccess& access) {
  const auto mask = static_cast<uint32_t>(access.mask);
  if (access.bytes <= 4) {
    const int depth = bank_depth(access, mask);
    return {depth, std::min(depth, 1)};
  }
  const bool paired = access.load && (pairs_agree(access, 1) || pairs_agree(access, 2));
  const int size = access.bytes == 8 ? 16 : 8, joined = paired ? 2 * size : size;
  const auto lanes = [](int first, int count) { return (count == 32 ? kAllLanes : (1u << count) - 1) << first; };
  int taken = 0, groups = 0;
  for (int first = 0; first < 32; first += joined) taken += bank_depth(access, mask & lanes(first, joined));
  for (int first = 0; first < 32; first += size) groups += (mask & lanes(first, size)) != 0;
  return {taken, std::min(taken, groups)};
}

}  // namespace attnscope
