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

// The code of an experiment, compiled if it is not cached, with what its last emulated run here did. Nothing runs, so a
// config that the device's limits refuse has a listing too.
//
// Of a program it is one launch's: `step` is its index among the program's steps; empty: the launch that took longest
// in the last emulated run here, or else the first. The listing says which. Failure (Stage::input): `step` is no
// launch.
Result<Listing> list_code(Services& services, const Experiment& experiment, const Kernel& kernel,
                          std::optional<int64_t> step, const std::atomic<bool>& cancel);

// Which of a kernel's launches is meant: the one of that step, or without one the longest of `runs` (null: the first).
// Failure (Stage::input): `step` is no launch.
Result<size_t> wanted_launch(const Kernel& kernel, const std::vector<Kernel>& launches, std::optional<int64_t> step,
                             const KeptCode::Runs* runs);

}  // namespace attnscope::worker
