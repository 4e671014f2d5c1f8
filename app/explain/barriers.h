#pragma once
#include <cstdint>
#include <vector>

#include "core/observation.h"
#include "core/source_lines.h"

namespace attnscope::explain {

// The barriers of the whole CTA on one line of the source. Unrolled code may contain several copies of it.
struct BarrierPlace {
  SourcePlace place{};
  std::vector<uint32_t> code{};  // its BAR.SYNC instructions
  double us = 0;                 // that warps wait there
  double passes = 0;             // of each warp
  bool loops = false;            // a loop contains it
};

// What a run without a barrier showed.
struct WithoutBarrier {
  int64_t ctas = 0, total_ctas = 0;  // tried CTAs, and those of the grid
  int64_t orders = 0;                // other orders of the warps
  bool other_inputs = false;         // inputs of another seed were tried too
  bool lanes_wait = false;           // the lanes of each warp still had to wait for each other
};

// Of a barrier in a loop. Buffers of a pipeline are used in turn; shipped and published kernels have up to four.
inline constexpr int kFewestPasses = 5;

// Those at which warps wait long enough for a finding, the longest first. A loop's barrier may protect a buffer that
// comes round again only after several passes, so that few passes say nothing about it.
std::vector<BarrierPlace> worth_opening(std::vector<BarrierPlace> places, double time_us);

// A barrier without which nothing changed.
Finding needless_barrier(const BarrierPlace& barrier, double time_us, const WithoutBarrier& tried);

}  // namespace attnscope::explain
