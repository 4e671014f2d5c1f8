#include "model/limits.h"

#include <fmt/format.h>

#include "core/with_commas.h"
#include "model/occupancy.h"

namespace attnscope::model {
namespace {

// The same for every compute capability from 3.0 (CUDA programming guide, table of compute capabilities).
constexpr int64_t kMaxGridX = (int64_t{1} << 31) - 1, kMaxGridYZ = 65535;
constexpr int64_t kMaxBlockXY = 1024, kMaxBlockZ = 64;
constexpr int64_t kMaxLocalBytes = 512 << 10;  // per thread

tl::unexpected<Failure> refuse(std::string message, std::string hint) {
  return fail(Stage::limits, std::move(message), std::move(hint));
}

Result<void> check_shape(const LaunchShape& launch, const std::string& who) {
  const int64_t grid_limits[3] = {kMaxGridX, kMaxGridYZ, kMaxGridYZ};
  const int64_t block_limits[3] = {kMaxBlockXY, kMaxBlockXY, kMaxBlockZ};
  for (size_t axis = 0; axis < 3; ++axis) {
    const char name = "xyz"[axis];
    if (launch.grid[axis] < 1 || launch.grid[axis] > grid_limits[axis])
      return refuse(fmt::format("{}: asks a grid of {} CTAs in {}; 1 to {} are possible", who,
                                with_commas(launch.grid[axis]), name, with_commas(grid_limits[axis])),
                    fmt::format("Choose smaller sizes or larger tiles: the grid's {} follows from them.", name));
    if (launch.block[axis] < 1 || launch.block[axis] > block_limits[axis])
      return refuse(fmt::format("{}: asks a block of {} threads in {}; 1 to {} are possible", who,
                                with_commas(launch.block[axis]), name, with_commas(block_limits[axis])),
                    fmt::format("Choose other knobs: the block's {} follows from them.", name));
  }
  return {};
}

Result<void> check_registers(const DeviceSpec& spec, const VariantInfo& variant, const LaunchShape& launch,
                             const std::string& who) {
  if (cta_limits(spec, variant, launch).registers > 0) return {};
  return refuse(fmt::format("{}: asks {} registers per thread for {} threads, {} per CTA; {} gives {} per CTA", who,
                            variant.registers, with_commas(launch.threads()),
                            with_commas(cta_allotment(spec, variant, launch).registers), spec.id,
                            with_commas(spec.registers_block)),
                "Fewer warps, or a lower maxrregcount (which may spill).");
}

// CUDA refuses it too (cudaErrorCooperativeLaunchTooLarge).
Result<void> check_cooperative(const DeviceSpec& spec, const VariantInfo& variant, const LaunchShape& launch,
                               const std::string& who) {
  if (!launch.cooperative) return {};
  const Occupancy fits = occupancy(spec, variant, launch);
  if (launch.ctas() <= fits.resident_ctas) return {};
  return refuse(
      fmt::format("{}: asks {} CTAs in a cooperative launch, which exist at once; {} holds {} ({} on each of {} SMs)",
                  who, with_commas(launch.ctas()), spec.id, with_commas(fits.resident_ctas), fits.ctas_per_sm,
                  spec.sms),
      fmt::format("Launch at most {} CTAs and let each go through its share of the work in a loop, or make more fit "
                  "an SM: fewer threads, registers or shared memory.",
                  with_commas(fits.resident_ctas)));
}

}  // namespace

Failure static_shared_failure(const DeviceSpec& spec, int64_t bytes, const std::string& who) {
  return {Stage::limits,
          fmt::format("{}: asks {} B of static shared memory; a kernel may declare {}", who, with_commas(bytes),
                      with_commas(spec.shared_static_block)),
          fmt::format("Declare it dynamic, by a knob where the kernel has one: {} gives {} B of dynamic shared memory "
                      "per CTA after an opt-in.",
                      spec.id, with_commas(spec.shared_optin_block))};
}

Result<void> check_limits(const DeviceSpec& spec, const VariantInfo& variant, const LaunchShape& launch,
                          const std::string& who) {
  if (auto shape = check_shape(launch, who); !shape) return shape;
  if (launch.threads() > spec.threads_block)
    return refuse(fmt::format("{}: asks {} threads per CTA; {} allows {}", who, with_commas(launch.threads()), spec.id,
                              with_commas(spec.threads_block)),
                  "Choose fewer warps.");
  if (variant.static_shared_bytes > spec.shared_static_block)
    return fail(static_shared_failure(spec, variant.static_shared_bytes, who));
  if (variant.stack_bytes > kMaxLocalBytes)
    return refuse(fmt::format("{}: asks {} B of local memory per thread; {} are possible", who,
                              with_commas(variant.stack_bytes), with_commas(kMaxLocalBytes)),
                  "Make the kernel's local arrays smaller, or keep them in a buffer.");
  const int64_t asked = variant.static_shared_bytes + variant.dynamic_shared_bytes;
  if (asked > spec.shared_optin_block)
    return refuse(fmt::format("{}: asks {} B of shared memory; {} gives {} per CTA", who, with_commas(asked), spec.id,
                              with_commas(spec.shared_optin_block)),
                  "Smaller tiles, fewer stages, or a device with more shared memory.");
  if (auto registers = check_registers(spec, variant, launch, who); !registers) return registers;
  return check_cooperative(spec, variant, launch, who);
}

}  // namespace attnscope::model
