#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace attnscope::emulator {

// What to read from the machine, and when, while one CTA runs.
struct Probe {
  // executes: after one of the instructions, by that warp with that lane active. loads: before one of the instructions,
  // by any warp, if it loads one of the bytes. passes: when the CTA passes a barrier at which a warp waits with one of
  // the instructions.
  enum class When { executes, loads, passes };
  When when = When::executes;
  std::vector<uint32_t> ops;  // instructions
  uint32_t warp = 0, lane = 0;
  bool result = false;          // reads the lane's register that the instruction wrote
  std::vector<uint32_t> bytes;  // byte offsets in the CTA's shared memory; the 4-byte words there are read
  // Fires once, and again after that probe has fired.
  std::optional<uint32_t> once_until;
};

struct ProbeHit {
  uint32_t probe = 0;  // index of the probe
  uint32_t op = 0;     // index of the instruction
  std::vector<uint32_t> words;
};

// In the order of execution.
struct ProbeHits {
  static constexpr size_t kMostWords = 1 << 22;
  std::vector<ProbeHit> all;
  bool whole = true;  // false: there were more than are kept
};

}  // namespace attnscope::emulator
