#pragma once
#include <cstdint>
#include <utility>
#include <vector>

namespace attnscope::emulator {

// Looks on while one host thread executes CTAs. The executor tells it what orders a CTA's warps; the instructions that
// it looks at carry handlers of its own (BoundLaunch::ops), which find it by Machine::observer.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void start(uint32_t cta) = 0;  // the thread's next one
  virtual void warp_synced(uint32_t warp) = 0;
  virtual void arrived(uint32_t warp, uint32_t barrier) = 0;  // BAR.ARV
  // The warps of `waiting` pass the barrier, each from its instruction. `whole`: it is the whole CTA's, and counts the
  // warps of `exited`, which have ended, as arrived.
  virtual void released(uint32_t barrier, const std::vector<std::pair<uint32_t, uint32_t>>& waiting, bool whole,
                        uint32_t exited) = 0;
};

}  // namespace attnscope::emulator
