#pragma once
#include <array>
#include <cstdint>

namespace attnscope {

// What the lanes of a warp access in shared memory, all at once.
struct SharedAccess {
  std::array<int64_t, 32> at{};  // byte of each lane; the first active lane's word lies in bank 0. 0 in inactive lanes
  int64_t mask = 0;              // bit n: lane n is active
  int64_t bytes = 4;             // of a lane: 2, 4, 8 or 16
  bool load = true;
  bool active(int lane) const { return (mask >> lane & 1) != 0; }
  bool operator==(const SharedAccess&) const = default;
};

struct Wavefronts {
  int taken = 0;
  int needed = 0;  // without bank conflicts
  bool operator==(const Wavefronts&) const = default;
};

// The rule was established on an H200, one kernel per access type, 168 patterns (docs/emulator.md): 2 and 4 bytes are
// one group of lanes; 8-byte accesses are split into half-warps, 16-byte ones into quarters; a load's groups are merged
// in pairs when lanes agree in pairs. A group takes the largest number of distinct 4-byte words that one of the 32
// banks must serve.
Wavefronts wavefronts_of(const SharedAccess& access);

}  // namespace attnscope
