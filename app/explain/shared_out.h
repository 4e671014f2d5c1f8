#pragma once
#include "explain/facts.h"

namespace attnscope::explain {

// How a launch distributes the work.
struct SharedOut {
  double ctas = 0;
  double warps = 0;  // per CTA
};

// The time in us if the same work were distributed as in `then`, for a grid with fewer CTAs than the device has SMs. It
// follows the share of SMs that have a CTA, with three exceptions:
// - Data that every CTA loads for all of its threads, such as a tile of keys, takes a smaller CTA as long. Inputs that
//   are loaded more than twice show it.
// - An SM deals its warps to its schedulers. If some schedulers have no warp, another CTA's warps use them.
// - For the warps of one scheduler only issues and queues add up. Latencies and waits at barriers overlap.
// It inherits the model's terms, and assumes that a warp's instructions shrink with its share of the work.
double us_if_shared_out(const Facts& facts, const SharedOut& then);

}  // namespace attnscope::explain
