#pragma once
#include "core/device_spec.h"
#include "core/observation.h"
#include "core/problem.h"
#include "model/schedule.h"

namespace attnscope::model {

// The least time, in microseconds, that each resource of the whole device takes for a kernel's counted work at the data
// sheet's rates and boost clock. 0: the kernel does not use it, or the spec has no figure.
struct Ceilings {
  double tensor = 0;  // products of the Tensor Cores
  double fp32 = 0;    // FADD, FMUL, FFMA
  double issue = 0;   // every warp instruction
  double dram = 0;    // compulsory bytes of a problem that does not fit into the second-level cache
  double highest() const;
};

// `counters` and `schedule` come from the same emulated CTAs, which stand for the grid.
Ceilings ceilings(const DeviceSpec& spec, const Problem& problem, const Counters& counters,
                  const KernelSchedule& schedule);

// Ceilings::dram.
double compulsory_dram_us(const DeviceSpec& spec, const Problem& problem);

}  // namespace attnscope::model
