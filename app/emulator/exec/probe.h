#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace attnscope::emulator {

// What to read of the machine, and when, while one CTA runs.
struct Probe {
  // executes: after one of the instructions, by that warp with that lane active. loads: before one of them, by any
  // warp, if it loads one of the bytes. passes: as the CTA passes a barrier that a warp waits for at one of them.
  enum class When { executes, loads, passes };
  When when = When::executes;
  std::vector<uint32_t> ops;  // instructions
  uint32_t warp = 0, lane = 0;
  bool result = false;          // the lane's register that the instruction wrote is read
  std::vector<uint32_t> bytes;  // bytes of the CTA's shared memory; the 4-byte words from them on are read
  // Fires only once, and again after that probe has fired.
  std::optional<uint32_t> once_until;
};

struct ProbeHit {
  uint32_t probe = 0;  // index
  uint32_t op = 0;     // instruction
  std::vector<uint32_t> words;
};

// In the order of the machine's execution.
struct ProbeHits {
  static constexpr size_t kMostWords = 1 << 22;
  std::vector<ProbeHit> all;
  bool whole = true;  // false: there were more than are kept
};

}  // namespace attnscope::emulator
