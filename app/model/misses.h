#pragma once
#include <vector>

#include "core/device_spec.h"
#include "model/schedule.h"

namespace attnscope::model {

// True for reads that may hit the first level because other reads have fetched the same bytes.
bool may_hit_l1(const ScheduledInstruction& instruction);

// The share of every load that misses the first level, for loads that may hit: requests beyond a CTA's distinct bytes
// are assumed to hit. With a mask, the bytes are those of the CTA that sees every key, which reads most.
double miss_share(const KernelSchedule& schedule);

// Of `stack` bytes of the resident warps' local memory the share that the first level does not hold, beside `shared`
// bytes of shared memory: an SM has one memory for both, and shared memory gets the smallest of its sizes that
// suffices.
double local_miss_share(const DeviceSpec& spec, double stack, double shared);

// Sectors of each trace that go to the second level.
std::vector<double> l2_sectors_of(const KernelSchedule& schedule);

}  // namespace attnscope::model
