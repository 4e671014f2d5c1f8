#include "model/occupancy.h"

#include <algorithm>
#include <utility>

namespace attnscope::model {
namespace {

constexpr int64_t kWarpThreads = 32;
constexpr int64_t kSubPartitions = 4;   // per SM, compute capability 7.0 and up; each has its own registers
constexpr int64_t kRegisterUnit = 256;  // a warp's registers are allocated in this unit
constexpr int64_t kMaxRegistersThread = 256;
constexpr int64_t kBarriersPerCta = 16;  // named barriers that a CTA may use

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// Shared memory is allocated in units of 256 bytes before compute capability 8.0, of 128 bytes from then on.
int64_t shared_unit(int arch) { return arch < 80 ? 256 : 128; }

int64_t registers_of_warp(const VariantInfo& variant) {
  return round_up(variant.registers * kWarpThreads, kRegisterUnit);
}

int64_t register_limit(const DeviceSpec& spec, const VariantInfo& variant, const LaunchShape& launch) {
  const int64_t warp = registers_of_warp(variant);
  if (warp == 0) return CtaLimits::kUnlimited;
  // The launch check counts a CTA's warps as if spread evenly over the sub-partitions.
  const int64_t checked = warp * round_up(launch.warps(), kSubPartitions);
  if (checked > spec.registers_block || variant.registers > kMaxRegistersThread) return 0;
  const int64_t warps = spec.registers_sm / kSubPartitions / warp * kSubPartitions;
  return warps / launch.warps();
}

int64_t shared_limit(const DeviceSpec& spec, const VariantInfo& variant, const LaunchShape& launch) {
  const int64_t bytes = cta_allotment(spec, variant, launch).shared_bytes;
  const int64_t asked = variant.static_shared_bytes + variant.dynamic_shared_bytes;
  if (variant.static_shared_bytes > spec.shared_static_block || asked > spec.shared_optin_block) return 0;
  return bytes == 0 ? CtaLimits::kUnlimited : spec.shared_sm / bytes;
}

// Barriers limit residency only from compute capability 9.0 on: an SM has twice as many as the CTAs it may hold.
int64_t barrier_limit(const DeviceSpec& spec, int64_t barriers) {
  if (barriers > kBarriersPerCta) return 0;
  if (spec.arch < 90 || barriers <= 0) return CtaLimits::kUnlimited;
  const bool once = spec.arch == 101 || spec.arch == 110 || spec.arch / 10 == 12;
  return spec.ctas_sm * (once ? 1 : 2) / barriers;
}

}  // namespace

CtaAllotment cta_allotment(const DeviceSpec& spec, const VariantInfo& variant, const LaunchShape& launch) {
  const int64_t shared = variant.static_shared_bytes + variant.dynamic_shared_bytes + spec.shared_reserved_block;
  return {round_up(shared, shared_unit(spec.arch)), registers_of_warp(variant) * launch.warps()};
}

CtaLimits cta_limits(const DeviceSpec& spec, const VariantInfo& variant, const LaunchShape& launch, int64_t barriers) {
  CtaLimits limits;
  const bool fits = launch.threads() > 0 && launch.threads() <= spec.threads_block;
  limits.shared_memory = shared_limit(spec, variant, launch);
  limits.registers = fits ? register_limit(spec, variant, launch) : 0;
  limits.warps = fits ? spec.warps_sm / launch.warps() : 0;
  limits.ctas = spec.ctas_sm;
  limits.barriers = barrier_limit(spec, barriers);
  return limits;
}

Occupancy occupancy(const DeviceSpec& spec, const VariantInfo& variant, const LaunchShape& launch, int64_t barriers) {
  const CtaLimits limits = cta_limits(spec, variant, launch, barriers);
  const std::pair<int64_t, Limiter> named[] = {{limits.shared_memory, Limiter::shared_memory},
                                               {limits.registers, Limiter::registers},
                                               {limits.warps, Limiter::warps},
                                               {limits.ctas, Limiter::ctas},
                                               {limits.barriers, Limiter::barriers}};
  const auto* least = std::min_element(std::begin(named), std::end(named),
                                       [](const auto& a, const auto& b) { return a.first < b.first; });
  Occupancy result;
  result.ctas_per_sm = least->first;
  result.limiter = least->second;
  result.warps_per_sm = result.ctas_per_sm * launch.warps();
  result.fraction = spec.warps_sm > 0 ? double(result.warps_per_sm) / double(spec.warps_sm) : 0;
  result.total_ctas = launch.ctas();
  result.resident_ctas = result.ctas_per_sm * spec.sms;
  if (result.resident_ctas > 0) {
    result.waves = double(result.total_ctas) / double(result.resident_ctas);
    result.tail_ctas = result.total_ctas % result.resident_ctas;
  }
  return result;
}

}  // namespace attnscope::model
