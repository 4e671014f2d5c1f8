#pragma once
#include "catalog/launch.h"

namespace attnscope::catalog {

// For a microbenchmark's config. Failures (Stage::catalog): an expression has no value. True if its fragment is a part
// of that attention problem.
Result<bool> fragment_fits(const Kernel& micro, const Config& config, const Problem& attention);
// True if the fragment with that config is a part of that kernel's config, by its manifest.
Result<bool> fragment_stands(const Kernel& micro, const Config& of_micro, const Kernel& kernel, const Problem& problem,
                             const Config& config);
// The work of one execution, above 0.
Result<double> fragment_work(const Kernel& micro, const Config& config);

}  // namespace attnscope::catalog
