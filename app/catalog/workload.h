#pragma once
#include "core/config.h"
#include "core/kernel.h"
#include "core/problem.h"
#include "core/result.h"
#include "core/workload.h"

namespace attnscope::catalog {

// A problem whose buffers take more bytes than this is refused at once.
inline constexpr size_t kMaxWorkloadBytes = size_t{1} << 32;

// The buffers and arguments of a kernel that is not attention, evaluated from its manifest. `config` must be complete.
// An expression that does not evaluate, or a reference that does not fit its buffers' shapes, is a Failure
// (Stage::catalog) at its JSON pointer; buffers over 4 GiB are a Failure (Stage::input).
Result<Workload> workload_of(const Kernel& kernel, const Problem& problem, const Config& config);

// Failure (Stage::catalog) at the pointer of a program's copy whose two buffers differ in size.
Result<void> check_copies(const Kernel& kernel, const Workload& workload);

// The problem after a person switches to this kernel: `held` if its kind and sizes fit, otherwise the kernel's own with
// the seed and distribution of `held`.
Problem problem_for(const Kernel& kernel, const Problem& held);

}  // namespace attnscope::catalog
