#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/observation.h"
#include "core/result.h"
#include "core/source_lines.h"
#include "device/device.h"
#include "device/listing.h"

namespace attnscope::worker {

// The search for barriers that a kernel does not need. It runs after a watch that found nothing.
struct BarrierRun {
  device::Device& emulated;
  device::LaunchRequest launch;
  // The run of the launch, or, of a program, of each launch in order: its counts and the model's stalls. Barriers of
  // the last launch are tried.
  const std::vector<device::CodeRun>& counted;
  const SourceLines& lines;  // of the kernel's source
  const std::atomic<bool>* cancel = nullptr;
  // Replaces the request's inputs by those of another seed; returns false if that costs too much.
  std::function<Result<bool>(device::LaunchRequest&)> other_inputs;
  std::function<void(int64_t done, int64_t total)> on_progress;  // runs
};

// Warp instructions that all of its runs may issue, a second or two of watching. Fewer CTAs run if needed, two at
// least.
inline constexpr uint64_t kBarrierWork = 20'000'000;
inline constexpr int64_t kBarrierOrders = 2;

// For each barrier at which warps wait long enough for a finding, the longest first, the sample of a watch runs under
// the watch while warps pass that barrier, and the needless ones before it, without waiting. Returns a finding for each
// that leaves no race, no uneven barrier, no other fault and the same output, in other orders of the warps and with
// other inputs too. Runs nothing if no barrier is worth it. Failure: Stage::cancelled, or that of the ordinary run.
Result<std::vector<Finding>> needless_barriers(const BarrierRun& run);

}  // namespace attnscope::worker
