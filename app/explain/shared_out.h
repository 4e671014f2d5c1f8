#pragma once
#include "explain/facts.h"

namespace attnscope::explain {

// How a launch shares out the work.
struct SharedOut {
  double ctas = 0;
  double warps = 0;  // of one CTA
};

// The time in us if the same work were shared out as `then`, of a grid that has fewer CTAs than the device SMs. Three
// things part it from the share of SMs that have a CTA:
// - What every CTA loads for all of its threads, such as a tile of keys, stays its own work however small its share of
//   the rest is. It is known by the bytes: inputs that are loaded more than twice.
// - Warps are dealt to an SM's schedulers. Few leave some schedulers without one, and CTAs that are added there cost
// the
//   others nothing.
// - Of the warps of one scheduler only issues and queues add up. Latencies and waits at barriers pass together.
// It inherits the model's terms, and takes it that a warp's instructions shrink with its share of the work.
double us_if_shared_out(const Facts& facts, const SharedOut& then);

}  // namespace attnscope::explain
