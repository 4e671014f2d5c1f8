#pragma once
#include <cstdint>
#include <vector>

#include "core/device_spec.h"
#include "model/occupancy.h"
#include "model/placing.h"
#include "model/schedule.h"

namespace attnscope::model {

// The CTAs of one SM in the order in which they start, each as the index of the trace that represents it.
using SmCtas = std::vector<uint32_t>;

// Warp instructions of each trace.
std::vector<double> instructions_of(const KernelSchedule& schedule);

// The trace that represents each place along x: the nearest traced one. With a mask, CTAs differ along x.
std::vector<uint32_t> trace_along_x(const KernelSchedule& schedule, const LaunchShape& launch);

// Warp instructions of a CTA at each place along x: those of a traced CTA, or interpolated linearly between two.
std::vector<double> instructions_along_x(const KernelSchedule& schedule, const LaunchShape& launch);

struct DispatchedSm {
  SmCtas ctas;
  double work = 0;   // their instructions
  double scale = 1;  // their instructions divided by those of the traces that represent them
};

struct Dispatched {
  // The SMs that decide the time, the one with the most work first. Where a CTA's warps are no multiple of four, also
  // the one whose busiest scheduler has most. If the scale of a few waves is below 1, also one that has only the
  // longest CTA, because the kernel takes at least that long.
  std::vector<DispatchedSm> sms;
  double ctas = 0;  // dispatched: the whole grid, or as many of its rows as are worth the time
};

// The number of CTAs of a grid that dispatch() hands out one by one; the further rows of the grid repeat these.
int64_t handed_out(const LaunchShape& launch);

// Where the device's SMs get the first of `ctas` CTAs, if each has `resident` places.
FirstPlaces first_places(const DeviceSpec& spec, int64_t resident, int64_t ctas);

// Dispatches the grid's CTAs as the hardware does (model/placing.h). With up to two waves the SM with the longest
// CTA may decide, too.
Dispatched dispatch(const KernelSchedule& schedule, const LaunchShape& launch, const FirstPlaces& first);

}  // namespace attnscope::model
