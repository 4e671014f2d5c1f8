#pragma once
#include <atomic>

#include "core/experiment.h"
#include "core/kernel.h"
#include "core/listing.h"
#include "core/result.h"
#include "worker/services.h"

namespace attnscope::worker {

// The code of an experiment, compiled if it is not cached, with what its last emulated run here did. Nothing runs, so a
// config that the device's limits refuse has a listing too.
Result<Listing> list_code(Services& services, const Experiment& experiment, const Kernel& kernel,
                          const std::atomic<bool>& cancel);

}  // namespace attnscope::worker
