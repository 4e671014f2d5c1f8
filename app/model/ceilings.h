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
  double mufu = 0;    // EX2, LG2, RCP, RSQ, SIN, COS
  double issue = 0;   // every warp instruction
  double shared = 0;  // wavefronts of shared memory
  double l2 = 0;      // sectors of stores and of copies past the first level; at least the compulsory bytes
  double dram = 0;    // compulsory bytes of a problem that does not fit into the second-level cache
  double highest() const;
};

// `counters` and `schedule` come from the same emulated CTAs, which stand for the grid. Compulsory bytes count as far
// as the kernel requests them: a wrong kernel may leave some out.
Ceilings ceilings(const DeviceSpec& spec, const Problem& problem, const Counters& counters,
                  const KernelSchedule& schedule);

// What the whole device can do at most, by the rates of the ceilings. 0: the spec has no figure.
struct Roofs {
  double tensor_tflops = 0;  // products of halves on the Tensor Cores
  double fp32_tflops = 0;    // FFMA, two operations each
  double l2_gbs = 0;         // GB/s of the second-level cache
  double dram_gbs = 0;       // GB/s
};
Roofs roofs(const DeviceSpec& spec);

// The least time, us, that any kernel takes for the problem: its operations at the highest rate of the device (dense
// products of halves on the Tensor Cores, or FFMA), and its compulsory bytes, but for as many as the L2 may hold from
// the launch before, at the DRAM's bandwidth. Keys that a mask hides do not count. A gemm does not say how wide its
// operands are, so its products count as of four bits. 0: neither is known.
double floor_us(const DeviceSpec& spec, const Problem& problem);

// The time of `bytes` at the DRAM's bandwidth, us; 0: they fit into the second-level cache, or the spec has no figure.
double dram_us(const DeviceSpec& spec, double bytes);

}  // namespace attnscope::model
