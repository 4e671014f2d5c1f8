#pragma once
#include "core/device_spec.h"
#include "core/observation.h"
#include "core/problem.h"
#include "model/schedule.h"

namespace attnscope::model {

// The least time, in microseconds, that each resource of the whole device takes for a kernel's counted work at the data
// sheet's rates and boost clock. 0: the kernel does not use it, or the spec has no figure.
struct Ceilings {
  double tensor = 0;   // products of the Tensor Cores
  double fp32 = 0;     // FADD, FMUL, FFMA
  double mufu = 0;     // EX2, LG2, RCP, RSQ, SIN, COS
  double issue = 0;    // all warp instructions
  double shared = 0;   // wavefronts of shared memory
  double l2 = 0;       // sectors of stores and of copies past the first level; at least the bytes that must be moved
  double dram = 0;     // bytes that must be moved, if they do not fit into the second-level cache
  double atomics = 0;  // those in one sector, or in 512 bytes
  double highest() const;
};

// `counters` and `schedule` must come from the same emulated CTAs, which represent the grid. What must be moved are
// attention's compulsory bytes, or of another kernel the buffers that it reads and those that it writes; both only as
// far as the kernel requests them.
Ceilings ceilings(const DeviceSpec& spec, const Problem& problem, const Counters& counters,
                  const KernelSchedule& schedule);

// The clocks in which the second level makes the atomics of the sector, or of the 512 bytes, that take it longest.
double atomics_clocks(const DeviceSpec& spec, const HotSpots& hottest);
// Of these clocks at least so many are certain: some patterns are faster (docs/model.md).
inline constexpr double kFastestAtomics = 0.33;

// The most that the whole device can do, by the rates of the ceilings. 0: the spec has no figure.
struct Roofs {
  double tensor_tflops = 0;  // products of halves on the Tensor Cores
  double fp32_tflops = 0;    // FFMA, two operations each
  double l2_gbs = 0;         // GB/s of the second-level cache
  double dram_gbs = 0;       // GB/s
};
Roofs roofs(const DeviceSpec& spec);

// The least time, us, that any kernel takes for the problem: its operations at the device's highest rate (dense
// products of halves on the Tensor Cores, or FFMA), and its compulsory bytes at the DRAM's bandwidth, without as many
// as the L2 may hold from the previous launch. Keys that a mask hides do not count. A gemm does not say how wide its
// operands are, so they count as four bits. 0: neither is known.
double floor_us(const DeviceSpec& spec, const Problem& problem);

// The time of `bytes` at the DRAM's bandwidth, us; 0 if they fit into the second-level cache, or if the spec has no
// figure.
double dram_us(const DeviceSpec& spec, double bytes);

}  // namespace attnscope::model
