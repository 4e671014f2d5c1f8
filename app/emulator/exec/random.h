#pragma once
#include <cstdint>

namespace attnscope::emulator {

// Xorshift (Marsaglia 2003), seeded with a seed and a CTA.
class Random {
 public:
  Random(uint64_t seed, uint32_t cta) : state_((seed + cta) * 0x9e3779b97f4a7c15u | 1) {}
  uint32_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<uint32_t>(state_ >> 32);
  }

 private:
  uint64_t state_;
};

}  // namespace attnscope::emulator
