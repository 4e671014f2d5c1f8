#pragma once
#include <array>
#include <cstdint>

#include "core/device_spec.h"
#include "core/observation.h"

namespace attnscope::model {

// How a kernel is launched. The variant says how much shared memory and how many registers it uses.
struct LaunchShape {
  std::array<int64_t, 3> grid{1, 1, 1};   // CTAs
  std::array<int64_t, 3> block{1, 1, 1};  // threads
  bool cooperative = false;               // all CTAs exist at once, as grid.sync() needs
  int64_t ctas() const { return grid[0] * grid[1] * grid[2]; }
  int64_t threads() const { return block[0] * block[1] * block[2]; }
  int64_t warps() const { return (threads() + 31) / 32; }  // per CTA
};

// How many CTAs of a kernel each resource of one SM would allow; kUnlimited if the kernel does not use it.
struct CtaLimits {
  static constexpr int64_t kUnlimited = INT64_MAX;
  int64_t shared_memory = 0;
  int64_t registers = 0;
  int64_t warps = 0;
  int64_t ctas = 0;
  int64_t barriers = 0;
};

// The resources of one CTA, rounded up as the hardware does and with the driver's share of shared memory.
struct CtaAllotment {
  int64_t shared_bytes = 0;
  int64_t registers = 0;
};

// The rules of NVIDIA's occupancy calculator (cuda_occupancy.h of the CUDA runtime) for compute capability 7.5 and up.
// docs/model.md lists them; tests/unit/model/occupancy_test.cpp compares them with that header if it is installed.
CtaAllotment cta_allotment(const DeviceSpec& spec, const VariantInfo& variant, const LaunchShape& launch);
CtaLimits cta_limits(const DeviceSpec& spec, const VariantInfo& variant, const LaunchShape& launch,
                     int64_t barriers = 1);

// `limiter` names the resource that allows the fewest CTAs; in a tie, the first of: shared memory, registers, warps,
// CTAs, barriers. ctas_per_sm is 0 for a kernel that does not fit (limits.h says why).
Occupancy occupancy(const DeviceSpec& spec, const VariantInfo& variant, const LaunchShape& launch,
                    int64_t barriers = 1);

}  // namespace attnscope::model
