#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "emulator/exec/warp.h"

namespace attnscope::emulator {

// The watch divides shared memory into units, the smallest width of any access (1, 2 or 4 bytes), grouped in lines of
// 64 bytes.
constexpr uint32_t kWatchLine = 64;

// Consecutive units that one access covers.
struct WatchStretch {
  uint16_t from = 0, units = 0;  // from the line's start
};

// The part of one line that one access covers.
struct WatchSpan {
  uint64_t units = 0;  // one bit each
  int32_t line = 0;    // relative to the line of the first active lane's address
  uint32_t first = 0, stretches = 0;
};

// Everything that one access covers, for a given offset of the first active lane's address in its line.
struct WatchSpans {
  uint32_t shape = 0;
  std::vector<WatchSpan> spans;  // ascending
  std::vector<WatchStretch> stretches;
};

// The active lanes, their addresses relative to the first one's, and the width of each one's access.
struct WatchShape {
  std::array<int32_t, 32> delta{};  // bytes; 0 in inactive lanes
  uint32_t mask = 0, bytes = 0;
  bool operator==(const WatchShape&) const = default;
};

// The shapes of all accesses so far, each stored once for all instructions.
class WatchShapes {
 public:
  static constexpr uint32_t kMost = 1u << 13;  // so that a shape's number and an offset in shared memory fit 32 bits

  void prepare(uint32_t unit);
  // The number of the pattern's shape; 0: no room for another.
  uint32_t find(const Pattern& pattern, uint32_t bytes);
  const WatchShape& operator[](uint32_t shape) const { return kept_[shape].shape; }
  // What an access at byte `base` covers; valid until prepare().
  const WatchSpans& spans(uint32_t shape, uint32_t base);

 private:
  struct Kept {
    WatchShape shape;
    std::array<std::unique_ptr<WatchSpans>, kWatchLine>
        spans;  // by offset in the line, in units; computed when first requested
  };
  struct Hash {
    size_t operator()(const WatchShape& shape) const;
  };
  WatchSpans cut(const WatchShape& shape, uint32_t place) const;

  uint32_t unit_ = 4;
  std::vector<Kept> kept_;  // by number; number 0 means no room and has no shape
  std::unordered_map<WatchShape, uint32_t, Hash> numbers_;
};

}  // namespace attnscope::emulator
