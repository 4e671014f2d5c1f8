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

inline constexpr double kL1LineBytes = 128;

// The lines that the first level has beside `shared` bytes of shared memory: an SM has one memory for both, and
// shared memory gets the smallest of its sizes that suffices.
double l1_lines(const DeviceSpec& spec, double shared);

// By instruction, the share of the lines that it loads from local memory that the first level does not hold, if it has
// `lines` of them for each warp: a line is there if few enough others came since its last access. All warps access
// theirs equally often. Global memory's lines, which the same cache holds, are left out.
std::vector<double> local_misses(const KernelSchedule& schedule, double lines);

// Sectors of each trace that go to the second level.
std::vector<double> l2_sectors_of(const KernelSchedule& schedule);

// Turns of each trace's atomics of global memory (ScheduledInstruction::turns).
std::vector<double> turns_of(const KernelSchedule& schedule);

}  // namespace attnscope::model
