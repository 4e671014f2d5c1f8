#pragma once
#include "catalog/launch.h"
#include "compile/compiler.h"
#include "core/config.h"
#include "core/kernel.h"
#include "core/problem.h"
#include "core/result.h"

namespace attnscope::worker {

// The compile request for `kernel` in that config, with the problem's head dimension, mask and type. `arch` is the
// compute capability × 10.
compile::CompileRequest variant_request(const Kernel& kernel, const Problem& problem, const Config& config, int arch);

// How long nvcc may take within that deadline: less, so that its own refusal comes before the supervisor ends the
// process.
int nvcc_ms(int64_t deadline_ms);

// `launch`, which was computed before compiling, with the source constants that the manifest's expressions use.
Result<catalog::Launch> settled(const catalog::Launch& launch, const Kernel& kernel, const Problem& problem,
                                const Config& config, const compile::Variant& variant);

}  // namespace attnscope::worker
