#pragma once
#include "explain/facts.h"

namespace attnscope::explain {

// How a launch shares out the work.
struct SharedOut {
  double ctas = 0;
  double warps = 0;  // of one CTA
};

// The time in us if the same work were shared out as `then`, of a grid with fewer CTAs than the device has SMs. The
// share of SMs that have a CTA says it but for three things:
// - What every CTA loads for all of its threads, such as a tile of keys, takes a smaller CTA as long. It is known by
//   the bytes: inputs that are loaded more than twice.
// - An SM deals its warps to its schedulers. Where few warps leave some without one, another CTA's take these.
// - Of the warps of one scheduler only issues and queues add up. Latencies and waits at barriers pass together.
// It inherits the model's terms, and takes it that a warp's instructions shrink with its share of the work.
double us_if_shared_out(const Facts& facts, const SharedOut& then);

}  // namespace attnscope::explain
