#pragma once
#include <atomic>
#include <cstdint>
#include <optional>

#include "core/experiment.h"
#include "core/kernel.h"
#include "core/listing.h"
#include "core/result.h"
#include "worker/services.h"

namespace attnscope::worker {

// The code of an experiment, compiled if it is not cached, with the counts of its last emulated run in this process.
// Nothing runs, so a config that exceeds the device's limits has a listing too.
//
// For a program it lists one launch: `step` is its index among the program's steps; empty: the launch that took longest
// in that emulated run, or the first if there was no run. The listing says which. Failure (Stage::input): `step` is not
// a launch. `compile_ms`: the deadline for compiling.
Result<Listing> list_code(Services& services, const Experiment& experiment, const Kernel& kernel,
                          std::optional<int64_t> step, int64_t compile_ms, const std::atomic<bool>& cancel);

// Selects one of a kernel's launches: the one with that step number, or without a step the longest of `runs` (null: the
// first). Failure (Stage::input): `step` is not a launch.
Result<size_t> wanted_launch(const Kernel& kernel, const std::vector<Kernel>& launches, std::optional<int64_t> step,
                             const KeptCode::Runs* runs);

}  // namespace attnscope::worker
