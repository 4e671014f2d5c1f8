#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "emulator/exec/warp.h"

namespace attnscope::emulator {

// Shared memory as the watch keeps it: units, the least width of any access (1, 2 or 4 bytes), in lines of 64 bytes.
constexpr uint32_t kWatchLine = 64;

// Units that one access touches one behind the other.
struct WatchStretch {
  uint16_t from = 0, units = 0;  // from the line's start
};

// What one access touches of one line.
struct WatchSpan {
  uint64_t units = 0;  // a bit each
  int32_t line = 0;    // from the line that holds the first active lane's address
  uint32_t first = 0, stretches = 0;
};

// What one access touches, by the place in its line where the first active lane's address lies.
struct WatchSpans {
  uint32_t shape = 0;
  std::vector<WatchSpan> spans;  // ascending
  std::vector<WatchStretch> stretches;
};

// Lanes, their addresses from the first active lane's, and the width of each one's access.
struct WatchShape {
  std::array<int32_t, 32> delta{};  // bytes; 0 in inactive lanes
  uint32_t mask = 0, bytes = 0;
  bool operator==(const WatchShape&) const = default;
};

// The shapes of the accesses met, each kept once whatever instruction it is of.
class WatchShapes {
 public:
  static constexpr uint32_t kMost = 1u << 13;  // the number of one and an offset in shared memory fit 32 bits

  void prepare(uint32_t unit);
  // The number of the pattern's shape; 0: there is room for no more.
  uint32_t find(const Pattern& pattern, uint32_t bytes);
  const WatchShape& operator[](uint32_t shape) const { return kept_[shape].shape; }
  // Of the access at byte `base`; valid until prepare().
  const WatchSpans& spans(uint32_t shape, uint32_t base);

 private:
  struct Kept {
    WatchShape shape;
    std::array<std::unique_ptr<WatchSpans>, kWatchLine> spans;  // by place in the line, in units; made when first asked
  };
  struct Hash {
    size_t operator()(const WatchShape& shape) const;
  };
  WatchSpans cut(const WatchShape& shape, uint32_t place) const;

  uint32_t unit_ = 4;
  std::vector<Kept> kept_;  // the first is none
  std::unordered_map<WatchShape, uint32_t, Hash> numbers_;
};

}  // namespace attnscope::emulator
