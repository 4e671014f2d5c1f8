#pragma once
#include <vector>

#include "bench_of_one.h"

namespace attnscope::kernel_tests {

// Clocks of each traced CTA if it has an SM of the device to itself and no warp takes anything from another: what its
// machine code states (stall counts, and the results, copies and barriers that it waits for), with the device's
// latencies and the wavefronts that the emulator counted, one warp's behind each other. Pipes, issue slots, register
// banks, instruction caches and queues that warps share take no time here, so a GPU takes longer.
std::vector<double> lone_cta_clocks(const Counted& of, const DeviceSpec& spec);

}  // namespace attnscope::kernel_tests
