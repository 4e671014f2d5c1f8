#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/observation.h"
#include "core/result.h"
#include "device/device.h"
#include "worker/truth_maker.h"

namespace attnscope::worker {

// A watch runs at most kWatchedCtas of the grid, unless it covers the whole grid: the first two and the last two, where
// sizes are ragged, and others spread between them. The search for outputs that are right by luck always runs these
// CTAs: with kFills other contents of shared memory (NaN, +1e30, random words) and with kOrders other orders of the
// warps, half of them starting from zeroed shared memory, half from 1e30.
inline constexpr int64_t kWatchedCtas = 8, kFills = 3, kOrders = 8;
inline constexpr uint32_t kLargeFill = 0x7149f2ca;      // 1e30
inline constexpr int64_t kMostCtas = int64_t{1} << 24;  // limit for a watch of the whole grid
// Ascending. All CTAs of a cooperative launch, which wait for each other.
std::vector<uint32_t> ctas_to_watch(const model::LaunchShape& launch);

struct WatchRun {
  device::Device& emulated;
  device::LaunchRequest launch;  // its trial names the parts of shared memory
  const std::atomic<bool>* cancel = nullptr;
  std::function<ReferenceResult()> reference;                    // called if the output of any run differs
  std::function<void(int64_t done, int64_t total)> on_progress;  // CTAs over all runs
  bool whole_grid = false;                                       // watch every CTA
};

// The offsets of the named parts of a CTA's shared memory: static ones as in the PTX, then `dynamic_parts`.
std::vector<SharedPlace> shared_names(const compile::Variant& variant, const std::vector<SharedBuffer>& dynamic_parts);

// Runs the kernel under the watch, then with other contents and in other orders. Rules of the findings: race.shared,
// race.warp, race.copy, race.global, race.grid, never_written.shared, .local, .global, output.unwritten,
// barrier.uneven, shuffle.absent, luck.fill and luck.order. Failures come from the emulator's watched run; if a later
// run fails, that is a finding.
Result<WatchReport> watch_kernel(const WatchRun& run);

}  // namespace attnscope::worker
