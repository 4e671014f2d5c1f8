#pragma once
#include <cstdint>
#include <utility>
#include <vector>

namespace attnscope::emulator {

// Observes one host thread's execution of CTAs. The executor reports what orders a CTA's warps. The instructions of
// interest have the observer's handlers (BoundLaunch::ops), which find it by Machine::observer.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void start(uint32_t cta) = 0;  // the thread's next CTA begins
  virtual void warp_synced(uint32_t warp) = 0;
  virtual void arrived(uint32_t warp, uint32_t barrier) = 0;  // BAR.ARV
  // The warps of `waiting` pass the barrier, each from its instruction. `whole`: the barrier is for the whole CTA and
  // counts the exited warps, in `exited`, as arrived.
  virtual void released(uint32_t barrier, const std::vector<std::pair<uint32_t, uint32_t>>& waiting, bool whole,
                        uint32_t exited) = 0;
};

}  // namespace attnscope::emulator
