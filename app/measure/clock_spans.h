#pragma once
#include <cstdint>
#include <vector>

#include "core/result.h"
#include "core/sm_timeline.h"

namespace attnscope::measure {

// What a warp of an instrumented twin writes (catalog/clock_twin.h): its SM's clock64 at its first and last
// instruction.
struct WarpClocks {
  uint64_t from = 0, to = 0;
  uint32_t sm = 0, none = 0;
};

// An SM's clock64 where the GPU's globaltimer moves on (assets/gpu/clocks.cu).
struct SmClock {
  uint64_t clock = 0, ns = 0;
  uint32_t sm = 0, none = 0;
};

// The clocks of one launch, as they are on the GPU.
struct ClockSpans {
  int64_t total_ctas = 0;         // of the grid
  int64_t warps = 0;              // of a CTA
  std::vector<WarpClocks> spans;  // warp after warp, CTA after CTA: as many CTAs as are recorded
  std::vector<SmClock> before, after;
};

// The spans in clocks from the first warp's start. Each SM counts its own clocks; globaltimer says how far the counts
// of two SMs are apart, and nothing else: durations are clock64's. `sms` is the device's number of them. Failures:
// Stage::device (no clock of an SM that ran a CTA, or clocks that stand still), Stage::launch (a warp that did not
// write its end), Stage::input (there is no such SM).
Result<SmTimeline> measured_timeline(const ClockSpans& measured, int64_t sms, const ClockTwin& twin,
                                     const TimelineAsk& ask);

}  // namespace attnscope::measure
