#pragma once
#include <vector>

#include "model/schedule.h"

namespace attnscope::model {

// Reads that may hit the first level because other reads have fetched the same bytes.
bool may_hit_l1(const ScheduledInstruction& instruction);

// Requests beyond a CTA's distinct bytes are taken to hit the first level, so this share of every load that may hit
// misses. With a mask, the bytes are those of the CTA that sees every key, which reads most.
double miss_share(const KernelSchedule& schedule);

// Sectors of each trace that go to the second level.
std::vector<double> l2_sectors_of(const KernelSchedule& schedule);

}  // namespace attnscope::model
